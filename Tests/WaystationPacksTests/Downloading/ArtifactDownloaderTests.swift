import Foundation
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

@Suite struct ArtifactDownloaderTests {
    private let bytes = Data.random(200_000, seed: 11)

    @Test("A file is downloaded whole, with its digest, and leaves nothing else behind")
    func whole() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, _ in file.answer(to: request) }
        let result = try await fixture.downloader.download(fixture.artifact(bytes))
        #expect(try Data(contentsOf: result.file) == bytes)
        #expect(result.digests == [PackDigest(of: bytes)])
        #expect(result.size == bytes.count && result.fetched == bytes.count)
        #expect(try fixture.directory.names.map { $0.suffix(5) } == [".done"])
        #expect(fixture.origin.requests.first?.value(of: "Accept-Encoding") == "identity")
        #expect(fixture.origin.requests.first?.value(of: "Range") == nil)
    }

    @Test("An empty file is downloaded as a file")
    func empty() async throws {
        let fixture = try DownloadFixture { _, _ in .ok(Data()) }
        let result = try await fixture.downloader.download(fixture.artifact(Data()))
        #expect(try Data(contentsOf: result.file).isEmpty)
    }

    @Test("An MD5 is checked too, and the result has both digests")
    func oldDigest() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, _ in file.answer(to: request) }
        let artifact = Artifact(url: fixture.origin.url("/pack.zip"), digest: PackDigest(of: bytes, .md5))
        #expect(
            try await fixture.downloader.download(artifact).digests == [
                PackDigest(of: bytes), PackDigest(of: bytes, .md5),
            ]
        )
        let wrong = Artifact(url: fixture.origin.url("/pack.zip"), digest: PackDigest(of: Data(), .md5))
        #expect(await errorCode { try await fixture.downloader.download(wrong) } == .damaged)
    }

    @Test("Progress begins with the bytes already present, never falls, and ends with all bytes")
    func progress() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            number == 0 ? file.answer(to: request, cutAfter: 70_000) : file.answer(to: request)
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        let kept = try #require(fixture.partSize(of: artifact))
        let seen = Mutex<[DownloadProgress]>([])
        _ = try await fixture.downloader.download(artifact) { progress in seen.withLock { $0.append(progress) } }
        let completed = seen.withLock { $0.map(\.completed) }
        #expect(completed.first == kept)
        #expect(completed == completed.sorted())
        #expect(completed.last == bytes.count)
        #expect(seen.withLock { $0.allSatisfy { $0.expected == bytes.count } })
    }

    @Test("A later attempt, even after a restart, requests the rest with the first attempt's entity tag")
    func resuming() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            number == 0 ? file.answer(to: request, cutAfter: 70_000) : file.answer(to: request)
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        #expect(fixture.partSize(of: artifact) == 70_000)
        #expect(await fixture.restarted().arrivedSize(of: artifact) == 70_000)
        let result = try await fixture.restarted().download(artifact)
        #expect(try Data(contentsOf: result.file) == bytes)
        #expect(result.fetched == bytes.count - 70_000)
        #expect(fixture.origin.requests.last?.value(of: "Range") == "bytes=70000-")
        #expect(fixture.origin.requests.last?.value(of: "If-Range") == "\"v1\"")
    }

    @Test("A file that changed on the server between two attempts is downloaded from the start")
    func changed() async throws {
        let (old, new) = (ServedFile(bytes: .random(90_000, seed: 1)), ServedFile(bytes: bytes, entityTag: "\"v2\""))
        let fixture = try DownloadFixture { request, number in
            number == 0 ? old.answer(to: request, cutAfter: 40_000) : new.answer(to: request)
        }
        // Without a digest only the validator shows the change.
        let artifact = fixture.artifact(bytes, hasSize: false, hasDigest: false)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        let result = try await fixture.downloader.download(artifact)
        #expect(try Data(contentsOf: result.file) == bytes)
        #expect(fixture.origin.requests.map { $0.value(of: "If-Range") } == [nil, "\"v1\""])
    }

    @Test("A server that ignores If-Range but states another tag is detected")
    func ignoredCondition() async throws {
        let bytes = bytes
        let fixture = try DownloadFixture { request, number in
            switch number {
            case 0: return ServedFile(bytes: .random(200_000, seed: 1)).answer(to: request, cutAfter: 40_000)
            case 1:
                return .status(
                    206,
                    fields: ["ETag": "\"v2\"", "Content-Range": "bytes 40000-199999/200000"],
                    body: bytes[40_000...]
                )
            default: return ServedFile(bytes: bytes, entityTag: "\"v2\"").answer(to: request)
            }
        }
        let artifact = fixture.artifact(bytes, hasSize: false, hasDigest: false)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        #expect(try Data(contentsOf: await fixture.downloader.download(artifact).file) == bytes)
        #expect(fixture.origin.requests.map { $0.value(of: "Range") } == [nil, "bytes=40000-", nil])
    }

    @Test("A weak entity tag is never sent as If-Range; without a digest the download starts again")
    func weakTag() async throws {
        let file = ServedFile(bytes: bytes, entityTag: "W/\"v1\"")
        let fixture = try DownloadFixture { request, number in
            number % 2 == 0 ? file.answer(to: request, cutAfter: 40_000) : file.answer(to: request)
        }
        for hasDigest in [true, false] {
            let artifact = fixture.artifact(bytes, hasDigest: hasDigest)
            #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
            #expect(try Data(contentsOf: await fixture.downloader.download(artifact).file) == bytes)
        }
        #expect(fixture.origin.requests.allSatisfy { $0.value(of: "If-Range") == nil })
        #expect(fixture.origin.requests.map { $0.value(of: "Range") } == [nil, "bytes=40000-", nil, nil])
    }

    @Test("A server without ranges sends the whole file again, which replaces the part")
    func withoutRanges() async throws {
        let file = ServedFile(bytes: bytes, knowsRanges: false)
        let fixture = try DownloadFixture { request, number in
            number == 0 ? file.answer(to: request, cutAfter: 70_000) : file.answer(to: request)
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        let result = try await fixture.downloader.download(artifact)
        #expect(try Data(contentsOf: result.file) == bytes)
        #expect(result.fetched == bytes.count)
    }

    @Test(
        "A 206 that is not the requested part is discarded, and the whole file downloaded",
        arguments: [
            "bytes 0-199999/200000", "bytes 70001-199999/200000", "bytes 70000-299999/300000", "bytes */200000",
            "nonsense",
        ]
    )
    func wrongRange(field: String) async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            switch number {
            case 0: file.answer(to: request, cutAfter: 70_000)
            case 1: .status(206, fields: ["Content-Range": field], body: Data.random(130_000, seed: 5))
            default: file.answer(to: request)
            }
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        #expect(try Data(contentsOf: await fixture.downloader.download(artifact).file) == bytes)
        #expect(fixture.origin.requests.map { $0.value(of: "Range") } == [nil, "bytes=70000-", nil])
    }

    @Test("416 for a file that is complete ends the download")
    func unsatisfied() async throws {
        let bytes = bytes
        let fixture = try DownloadFixture { request, number in
            switch number {
            // No length is announced, so the downloader cannot know that all of it arrived.
            case 0:
                .stream([.bytes(bytes), .close], fields: ["ETag": "\"v1\""], framing: .chunked)
            default: ServedFile(bytes: bytes).answer(to: request)
            }
        }
        let artifact = fixture.artifact(bytes, hasSize: false)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        let result = try await fixture.downloader.download(artifact)
        #expect(try Data(contentsOf: result.file) == bytes)
        #expect(result.fetched == 0)
        #expect(fixture.origin.requests.last?.value(of: "Range") == "bytes=\(bytes.count)-")
    }

    @Test("416 for any other file starts the download again")
    func unsatisfiedByAnother() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            switch number {
            case 0: file.answer(to: request, cutAfter: 70_000)
            case 1: .status(416, fields: ["Content-Range": "bytes */60000"])
            default: file.answer(to: request)
            }
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        #expect(try await fixture.downloader.download(artifact).fetched == bytes.count)
    }

    @Test("A body without end is cut off at the announced size, and discarded", arguments: [true, false])
    func endless(hasSize: Bool) async throws {
        let gate = try ScriptedOrigin.Gate()
        let part = Data(count: 50_000)
        let fixture = try DownloadFixture(maximumSize: 120_000) { _, _ in
            .stream(Array(repeating: .bytes(part), count: 4) + [.wait(gate)])
        }
        let artifact = Artifact(url: fixture.origin.url("/pack.zip"), size: hasSize ? 60_000 : nil)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .tooLarge)
        #expect(try fixture.directory.names.isEmpty)
        // The connection is closed too: the server, which waits to send more, is abandoned.
        await fixture.origin.waitForAbandonedRequests(1)
    }

    @Test("A file without a known size is refused if its announced length, or its parts together, are above the limit")
    func announcedTooLarge() async throws {
        let fixture = try DownloadFixture(maximumSize: 120_000) { _, number in
            number == 0
                ? .stream([.bytes(Data(count: 50_000)), .close], framing: .declaredLength(200_000))
                : .stream([.bytes(Data(count: 100_000)), .close], framing: .chunked)
        }
        let artifact = Artifact(url: fixture.origin.url("/pack.zip"))
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .tooLarge)
        #expect(try fixture.directory.names.isEmpty)
    }

    @Test("An announced length other than the offer's fails the download before it writes", arguments: [100, 300_000])
    func lyingLength(length: Int) async throws {
        let bytes = bytes
        let fixture = try DownloadFixture { _, _ in .stream([.bytes(bytes)], framing: .declaredLength(length)) }
        let code = await errorCode { try await fixture.downloader.download(fixture.artifact(bytes)) }
        #expect(code == (length > bytes.count ? .tooLarge : .badAnswer))
        #expect(try fixture.directory.names.isEmpty)
    }

    @Test("A wrong length from the server causes an error and no wrong file, even if the offer has no size")
    func lyingLengthWithoutSize() async throws {
        let bytes = bytes
        let fixture = try DownloadFixture { _, number in
            .stream([.bytes(bytes)], framing: .declaredLength(number == 0 ? bytes.count + 10 : bytes.count - 10))
        }
        let artifact = fixture.artifact(bytes, hasSize: false)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .damaged)
    }

    @Test("A wrong digest discards the bytes, so that the next attempt starts again")
    func wrongDigest() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            (number == 0 ? ServedFile(bytes: .random(200_000, seed: 1)) : file).answer(to: request)
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .damaged)
        #expect(try fixture.directory.names.isEmpty)
        #expect(try Data(contentsOf: await fixture.downloader.download(artifact).file) == bytes)
    }

    @Test("A damaged part on disk is detected by the digest, and discarded")
    func damagedPart() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            number == 0 ? file.answer(to: request, cutAfter: 70_000) : file.answer(to: request)
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        let part = try #require(try fixture.directory.names.first { $0.hasSuffix(".part") })
        try Data(count: 70_000).write(to: fixture.directory.url.appending(path: part))
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .damaged)
        #expect(try Data(contentsOf: await fixture.downloader.download(artifact).file) == bytes)
    }

    @Test("A record that cannot be read restarts the download", arguments: ["", "{}", "nonsense", #"{"version":9}"#])
    func damagedRecord(text: String) async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            number == 0 ? file.answer(to: request, cutAfter: 70_000) : file.answer(to: request)
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        let record = try #require(try fixture.directory.names.first { $0.hasSuffix(".json") })
        try Data(text.utf8).write(to: fixture.directory.url.appending(path: record))
        #expect(try await fixture.downloader.download(artifact).fetched == bytes.count)
    }

    @Test(
        "A refusal reports the status, keeps the part and honours Retry-After",
        arguments: [401, 403, 404, 410, 429, 500, 503]
    )
    func refusal(status: Int) async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            switch number {
            case 0: file.answer(to: request, cutAfter: 70_000)
            case 1: .status(status, fields: ["Retry-After": "90", "WWW-Authenticate": "Basic realm=\"x\""])
            default: file.answer(to: request)
            }
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        let error = await #expect(throws: PackError.self) { try await fixture.downloader.download(artifact) }
        #expect(error?.code == .refused)
        #expect(error?.retryAfter == .seconds(90))
        #expect(error?.message.contains("status \(status)") == true)
        #expect(try await fixture.downloader.download(artifact).fetched == bytes.count - 70_000)
    }

    @Test("A redirect is followed with the range")
    func redirect() async throws {
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, number in
            guard request.path == "/real.zip" else { return .redirect(302, to: "/real.zip") }
            return number <= 1 ? file.answer(to: request, cutAfter: 70_000) : file.answer(to: request)
        }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .interrupted)
        let result = try await fixture.downloader.download(artifact)
        #expect(try Data(contentsOf: result.file) == bytes)
        #expect(fixture.origin.requests.last?.path == "/real.zip")
        #expect(fixture.origin.requests.last?.value(of: "Range") == "bytes=70000-")
    }

    @Test("An unreachable server causes a network error")
    func unreachable() async throws {
        let fixture = try DownloadFixture { _, _ in .closed }
        let artifact = fixture.artifact(bytes)
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .network)
        fixture.origin.stop()
        #expect(await errorCode { try await fixture.downloader.download(artifact) } == .network)
    }
}
