import Foundation
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

@Suite struct PausingTests {
    private let bytes = Data.random(200_000, seed: 12)

    @Test("Cancelling stops the transfer and keeps the part; the next call continues from there")
    func pause() async throws {
        let gate = try ScriptedOrigin.Gate()
        let file = ServedFile(bytes: bytes)
        let bytes = bytes
        let fixture = try DownloadFixture { request, number in
            guard number == 0 else { return file.answer(to: request) }
            return .stream(
                [.bytes(bytes.prefix(70_000)), .wait(gate), .bytes(bytes[70_000...])],
                fields: ["ETag": "\"v1\""],
                framing: .declaredLength(bytes.count)
            )
        }
        let artifact = fixture.artifact(bytes)
        let (arrivals, arrival) = AsyncStream.makeStream(of: Int.self)
        let download = Task {
            try await fixture.downloader.download(artifact) { arrival.yield($0.completed) }
        }
        for await completed in arrivals where completed == 70_000 { break }
        download.cancel()
        #expect(await errorCode { try await download.value } == .cancelled)
        await fixture.origin.waitForAbandonedRequests(1)
        #expect(fixture.partSize(of: artifact) == 70_000)
        let result = try await fixture.downloader.download(artifact)
        #expect(result.fetched == bytes.count - 70_000)
        #expect(try Data(contentsOf: result.file) == bytes)
    }

    @Test("A task that is cancelled before the response head arrives ends at once")
    func pauseBeforeHead() async throws {
        let fixture = try DownloadFixture { _, _ in .unanswered }
        let artifact = fixture.artifact(bytes)
        let download = Task { try await fixture.downloader.download(artifact) }
        await fixture.origin.waitForRequests(1)
        download.cancel()
        #expect(await errorCode { try await download.value } == .cancelled)
        await fixture.origin.waitForAbandonedRequests(1)
    }

    @Test("A task that is already cancelled sends no request")
    func cancelledBefore() async throws {
        let fixture = try DownloadFixture { _, _ in .unanswered }
        let artifact = fixture.artifact(bytes)
        let download = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await fixture.downloader.download(artifact)
        }
        #expect(await errorCode { try await download.value } == .cancelled)
        #expect(fixture.origin.requestCount == 0)
    }

    @Test("Two calls for one artifact share one download")
    func sharing() async throws {
        let gate = try ScriptedOrigin.Gate()
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, _ in file.answer(to: request).held(at: gate) }
        let artifact = fixture.artifact(bytes)
        let downloads = (0..<5).map { _ in Task { try await fixture.downloader.download(artifact) } }
        await fixture.origin.waitForRequests(1)
        gate.open()
        var fetched: [Int] = []
        for download in downloads { fetched.append(try await download.value.fetched) }
        #expect(fetched.sorted() == [0, 0, 0, 0, bytes.count])
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("A call that waits for another can be cancelled, and the next in line continues when the first is cancelled")
    func waiting() async throws {
        let gate = try ScriptedOrigin.Gate()
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            number == 0 ? file.answer(to: request).held(at: gate) : file.answer(to: request)
        }
        let artifact = fixture.artifact(bytes)
        let first = Task { try await fixture.downloader.download(artifact) }
        await fixture.origin.waitForRequests(1)
        let second = Task { try await fixture.downloader.download(artifact) }
        let third = Task { try await fixture.downloader.download(artifact) }
        second.cancel()
        #expect(await errorCode { try await second.value } == .cancelled)
        first.cancel()
        #expect(await errorCode { try await first.value } == .cancelled)
        #expect(try await third.value.fetched == bytes.count)
    }

    @Test("Downloads of two artifacts run at the same time")
    func sideBySide() async throws {
        let gate = try ScriptedOrigin.Gate()
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, _ in
            request.path == "/slow" ? file.answer(to: request).held(at: gate) : file.answer(to: request)
        }
        let slow = Artifact(url: fixture.origin.url("/slow"), digest: PackDigest(of: bytes))
        let first = Task { try await fixture.downloader.download(slow) }
        await fixture.origin.waitForRequests(1)
        _ = try await fixture.downloader.download(fixture.artifact(bytes))
        gate.open()
        _ = try await first.value
    }

    @Test("A part is kept for the next call, until it is discarded or no longer requested")
    func keeping() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, _ in file.answer(to: request) }
        let artifact = fixture.artifact(bytes)
        let first = try await fixture.downloader.download(artifact)
        #expect(try await fixture.restarted().download(artifact).fetched == 0)
        try Data("damage".utf8).write(to: first.file)
        #expect(try await fixture.restarted().download(artifact).fetched == bytes.count)
        try await fixture.downloader.discard(artifact)
        #expect(try fixture.directory.names.isEmpty)
        let unchecked = fixture.artifact(bytes, hasDigest: false)
        for _ in 0..<2 { #expect(try await fixture.downloader.download(unchecked).fetched == bytes.count) }
        _ = try await fixture.downloader.download(artifact)
        try await fixture.downloader.discardAll(except: [artifact])
        #expect(try fixture.directory.names.count == 1)
        #expect(try await fixture.downloader.download(artifact).fetched == 0)
        try await fixture.downloader.discardAll(except: [])
        #expect(try fixture.directory.names.isEmpty)
    }
}
