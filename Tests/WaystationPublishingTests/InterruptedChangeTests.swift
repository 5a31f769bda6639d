import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPacks
@testable import WaystationPublishing

@Suite("Changes that fail")
struct InterruptedChangeTests {
    @Test(
        "whichever file system call fails, clients see the old or the new catalogue, and the change can be repeated"
    )
    func everyCall() async throws {
        let calls = try await operations(failing: .max).count
        #expect(calls > 60)
        for number in 0..<calls { _ = try await operations(failing: number) }
    }

    @Test("a publication whose task is cancelled is completed, away from Swift's threads")
    func cancelled() async throws {
        let publisher = try Publisher()
        // Many files, so that the thread that does the work compares some of them itself, and not only its helpers.
        var files = ["common.js": Publisher.noise(20_000, seed: 1)]
        for number in 0..<64 { files["\(number).js"] = Data("text".utf8) }
        try await publisher.releases.publish(zip: publisher.pack("1.0", files: files), signedBy: [publisher.key])
        let pack = try publisher.pack("1.1", files: files)
        let stray = Mutex<[String]>([])
        let watched = FaultyFileSystem { operation, path in
            if !BlockingThreads.isCurrent { stray.withLock { $0.append("\(operation) \(path)") } }
        }
        let publishing = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await publisher.releases(on: watched).publish(zip: pack, signedBy: [publisher.key])
        }
        #expect(try await publishing.value.release.patches.count == 2)
        #expect(try publisher.catalogue().modules.first?.live?.description == "1.1")
        #expect(stray.withLock { $0 } == [])
        try await expectWhole(publisher)
    }

    /// Publishes a second version while one call fails, checks the result, and publishes it again.
    ///
    /// Returns the calls that were made.
    private func operations(failing number: Int) async throws -> [FaultyFileSystem.Operation] {
        let publisher = try Publisher()
        try await publisher.publish("1.0")
        let pack = try publisher.pack("1.1")
        let seen = Mutex<[FaultyFileSystem.Operation]>([])
        let faulty = FaultyFileSystem { operation, path in
            let index = seen.withLock { seen in
                seen.append(operation)
                return seen.count - 1
            }
            if index == number { throw FileError("\(operation)", path, code: EIO) }
        }
        let code = await errorCode {
            try await publisher.releases(on: faulty).publish(zip: pack, signedBy: [publisher.key])
        }
        if number < seen.withLock({ $0.count }), let code { #expect(code == .fileSystem) }

        let live = try publisher.catalogue().modules.first?.live?.description
        #expect(live == "1.0" || live == "1.1")
        if code == nil, number == .max { #expect(live == "1.1") }
        try await expectWhole(publisher)

        let again = try await publisher.releases.publish(zip: pack, signedBy: [publisher.key])
        #expect(try publisher.catalogue().modules.first?.live?.description == "1.1")
        #expect(try publisher.catalogue().serial == again.index.serial)
        try await expectWhole(publisher)
        return seen.withLock { $0 }
    }

    /// Checks that every file that the catalogue names exists with the stated contents.
    private func expectWhole(_ publisher: Publisher) async throws {
        for release in try publisher.catalogue().modules.flatMap(\.releases) {
            for file in [release.archive] + (release.patches ?? []).map(\.artifact) {
                let bytes = try publisher.bytes(file.url)
                #expect(bytes.count == file.size)
                #expect(PackDigest(of: bytes) == file.digest)
            }
        }
    }
}
