import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

@Suite struct DownloadFailureTests {
    /// Fails the file operation with the given number, once.
    private final class Trap: Sendable {
        private struct State {
            var count = 0
            var target: Int?
            var hit: FaultyFileSystem.Operation?
        }

        private let state = Mutex(State())
        private let code: Int32

        init(at target: Int?, code: Int32 = EIO) {
            self.code = code
            state.withLock { $0.target = target }
        }

        var count: Int { state.withLock { $0.count } }
        var hit: FaultyFileSystem.Operation? { state.withLock { $0.hit } }

        func pass(_ operation: FaultyFileSystem.Operation, _ path: String) throws {
            let isDue = state.withLock { state in
                defer { state.count += 1 }
                guard state.count == state.target else { return false }
                state.hit = operation
                return true
            }
            if isDue { throw FileError("test", path, code: code) }
        }
    }

    private let bytes = Data.random(60_000, seed: 31)

    private func attempts(
        _ trap: Trap,
        _ directory: TemporaryDirectory,
        _ origin: ScriptedOrigin
    ) async -> [PackError.Code?] {
        let artifact = Artifact(url: origin.url("/pack.zip"), size: bytes.count, digest: PackDigest(of: bytes))
        var codes: [PackError.Code?] = []
        // The first attempt is cut, the second continues.
        for _ in 0..<2 {
            let downloader = ArtifactDownloader(
                directory: directory.url,
                fetcher: URLSessionFetcher.shared,
                files: FaultyFileSystem { try trap.pass($0, $1) }
            )
            codes.append(await errorCode { try await downloader.download(artifact) })
        }
        return codes
    }

    private func cutOrigin() throws -> ScriptedOrigin {
        let file = ServedFile(bytes: bytes)
        return try ScriptedOrigin { request in
            request.order == 0 ? file.answer(to: request, cutAfter: 25_000) : file.answer(to: request)
        }
    }

    @Test(
        "Each file operation that fails once causes an error or no harm, and the next attempt gets the correct bytes"
    )
    func everyOperation() async throws {
        let counting = Trap(at: nil)
        #expect(try await attempts(counting, TemporaryDirectory(), cutOrigin()) == [.interrupted, nil])
        #expect(counting.count > 20)
        for target in 0..<counting.count {
            let (trap, directory, origin) = (Trap(at: target), try TemporaryDirectory(), try cutOrigin())
            let codes = await attempts(trap, directory, origin)
            #expect(codes.compactMap(\.self).allSatisfy { [.interrupted, .fileSystem].contains($0) }, "\(codes)")
            // The failure was reported, unless it concerned only the record for the next attempt.
            let artifact = Artifact(url: origin.url("/pack.zip"), size: bytes.count, digest: PackDigest(of: bytes))
            let last = ArtifactDownloader(directory: directory.url, fetcher: URLSessionFetcher.shared)
            let result = try await last.download(artifact)
            #expect(try Data(contentsOf: result.file) == bytes, "after a failed \(String(describing: trap.hit))")
        }
    }

    @Test("A full disk is reported as such, and the bytes that arrived are kept")
    func fullDisk() async throws {
        let (directory, origin) = (try TemporaryDirectory(), try cutOrigin())
        let artifact = Artifact(url: origin.url("/pack.zip"), size: bytes.count, digest: PackDigest(of: bytes))
        let downloader = ArtifactDownloader(
            directory: directory.url,
            fetcher: URLSessionFetcher.shared,
            files: FaultyFileSystem { operation, path in
                if operation == .write, path.hasSuffix(".part") { throw FileError("write", path, code: ENOSPC) }
            }
        )
        #expect(await errorCode { try await downloader.download(artifact) } == .noSpace)
        #expect(try directory.names.contains { $0.hasSuffix(".part") })
    }

    @Test("A directory that is not a file URL is refused before a request, and nothing is made at its path")
    func remoteDirectory() async throws {
        let (directory, origin) = (try TemporaryDirectory(), try cutOrigin())
        let remote = try #require(URL(string: "https://packs.example\(directory.url.path)/new"))
        let artifact = Artifact(url: origin.url("/pack.zip"), size: bytes.count, digest: PackDigest(of: bytes))
        let downloader = ArtifactDownloader(directory: remote, fetcher: URLSessionFetcher.shared)
        let error = await #expect(throws: PackError.self) { try await downloader.download(artifact) }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("\(remote) is not a file URL") == true)
        #expect(origin.requests.isEmpty)
        #expect(try directory.names.isEmpty)
    }
}
