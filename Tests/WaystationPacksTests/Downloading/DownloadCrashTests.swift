import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

@Suite struct DownloadCrashTests {
    /// Allows a number of file operations and fails all later ones, as if the process had been killed.
    private final class Lifetime: Sendable {
        private let operations = Mutex(0)
        private let last: Int?

        init(last: Int?) { self.last = last }

        var count: Int { operations.withLock { $0 } }

        func spend(_ path: String) throws {
            let number = operations.withLock { operations in
                operations += 1
                return operations
            }
            if let last, number > last { throw FileError("killed before", path, code: EIO) }
        }
    }

    private let old = ServedFile(bytes: .random(80_000, seed: 1), entityTag: "\"v1\"")
    private let new = ServedFile(bytes: .random(60_000, seed: 2), entityTag: "\"v2\"")

    private func downloader(_ directory: TemporaryDirectory, _ lifetime: Lifetime) -> ArtifactDownloader {
        ArtifactDownloader(
            directory: directory.url,
            fetcher: URLSessionFetcher.shared,
            files: FaultyFileSystem { _, path in try lifetime.spend(path) }
        )
    }

    /// A server that cuts the first version half-way, then has the second and cuts it too, and then sends it whole.
    private func origin() throws -> ScriptedOrigin {
        let (old, new) = (old, new)
        return try ScriptedOrigin { request in
            switch request.order {
            case 0: old.answer(to: request, cutAfter: 40_000)
            case 1: new.answer(to: request, cutAfter: 30_000)
            default: new.answer(to: request)
            }
        }
    }

    @Test(
        "After a kill before any file operation, and a change on the server, the next start gets the new file",
        arguments: [true, false]
    )
    func kills(hasDigest: Bool) async throws {
        func artifact(_ origin: ScriptedOrigin) -> Artifact {
            Artifact(url: origin.url("/pack.zip"), digest: hasDigest ? PackDigest(of: new.bytes) : nil)
        }
        let counting = Lifetime(last: nil)
        do {
            let (directory, origin) = (try TemporaryDirectory(), try origin())
            for _ in 0..<2 {
                let code = await errorCode { try await downloader(directory, counting).download(artifact(origin)) }
                #expect(code == .interrupted)
            }
        }
        #expect(counting.count > 25)
        for last in 0...counting.count {
            let (directory, origin, lifetime) = (try TemporaryDirectory(), try origin(), Lifetime(last: last))
            for _ in 0..<2 {
                _ = await errorCode { try await downloader(directory, lifetime).download(artifact(origin)) }
            }
            // The process may have ended before the server received two requests.
            while origin.requestCount < 2 {
                _ = await errorCode { try await downloader(directory, Lifetime(last: nil)).download(artifact(origin)) }
            }
            let result = try await downloader(directory, Lifetime(last: nil)).download(artifact(origin))
            #expect(try Data(contentsOf: result.file) == new.bytes, "killed after \(last) operations")
            #expect(try directory.names.count == 1)
        }
    }
}
