import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("A download of a direct client", .timeLimit(.minutes(10)))
struct DownloadTests {
    private let body = Data((0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7 >> 2) })
    private let folder: TemporaryDirectory
    private let file: URL

    init() throws {
        folder = try TemporaryDirectory()
        file = folder.url.appending(path: "a file.bin")
    }

    /// The names in the folder.
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: folder.url.path).sorted() }
    }

    private func client() throws -> DirectClient {
        try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }.client(
            configuration: .ephemeral
        )
    }

    /// A server whose first answer breaks off; it answers ranges of later requests.
    private func breakingOrigin(
        tags: [String] = ["\"1\""],
        answersRanges: Bool = true
    ) throws -> ScriptedOrigin {
        let count = Counter()
        return try ScriptedOrigin { [body] request in
            let number = count.next()
            let tag = tags[min(number, tags.count) - 1]
            if number == 1 { return .truncated(body, after: 100_000, fields: ["ETag": tag]) }
            guard answersRanges, let range = request.value(of: "Range"), request.value(of: "If-Range") == tag,
                let start = Int(range.dropFirst("bytes=".count).dropLast())
            else { return .ok(body, fields: ["ETag": tag]) }
            return .status(
                206,
                fields: ["ETag": tag, "Content-Range": "bytes \(start)-\(body.count - 1)/\(body.count)"],
                body: body.dropFirst(start)
            )
        }
    }

    @Test("replaces the file, and tells its progress")
    func whole() async throws {
        try Data("old".utf8).write(to: file)
        let origin = try ScriptedOrigin { [body] _ in .ok(body, fields: ["ETag": "\"1\""]) }
        let told = Mutex<[DownloadProgress]>([])
        let head = try await client().download(for: origin.url("/"), to: file) { progress in
            told.withLock { $0.append(progress) }
        }
        #expect(head.status == .ok)
        #expect(try Data(contentsOf: file) == body)
        #expect(try names == ["a file.bin"])
        let progress = told.withLock { $0 }
        #expect(progress.first == DownloadProgress(completed: 0, expected: body.count))
        #expect(progress.last == DownloadProgress(completed: body.count, expected: body.count))
        #expect(progress.map(\.completed) == progress.map(\.completed).sorted())
        #expect(origin.requests.first?.value(of: "Accept-Encoding") == "identity")
    }

    @Test("keeps what has arrived when it breaks off, and the next call asks for the rest")
    func resuming() async throws {
        let origin = try breakingOrigin()
        let client = try client()
        await #expect(throws: URLError.self) { try await client.download(for: origin.url("/"), to: file) }
        #expect(try names == ["a file.bin.part", "a file.bin.part.json"])
        let head = try await client.download(for: origin.url("/"), to: file)
        #expect(head.status.code == 206)
        #expect(try Data(contentsOf: file) == body)
        #expect(try names == ["a file.bin"])
        let asked = try #require(origin.requests.last?.value(of: "Range"))
        let start = try #require(Int(asked.dropFirst("bytes=".count).dropLast()))
        #expect((1...100_000).contains(start))
    }

    @Test("begins anew if the server has another version by then, or answers no ranges", arguments: [true, false])
    func changed(answersRanges: Bool) async throws {
        let origin = try breakingOrigin(tags: ["\"1\"", "\"2\""], answersRanges: answersRanges)
        let client = try client()
        await #expect(throws: URLError.self) { try await client.download(for: origin.url("/"), to: file) }
        #expect(try await client.download(for: origin.url("/"), to: file).status == .ok)
        #expect(try Data(contentsOf: file) == body)
    }

    @Test("keeps nothing of a response without a strong validator", arguments: ["W/\"1\"", "no tag"])
    func weak(tag: String) async throws {
        let origin = try breakingOrigin(tags: [tag])
        let client = try client()
        await #expect(throws: URLError.self) { try await client.download(for: origin.url("/"), to: file) }
        #expect(try names == [])
        try await client.download(for: origin.url("/"), to: file)
        #expect(origin.requests.allSatisfy { $0.value(of: "Range") == nil })
        #expect(try Data(contentsOf: file) == body)
    }

    @Test("never joins parts of two versions, whatever the server says", arguments: 0..<5)
    func lies(kind: Int) async throws {
        let count = Counter()
        let other = Data(repeating: 9, count: body.count)
        let origin = try ScriptedOrigin { [body] request in
            let total = body.count
            guard count.next() > 1 else { return .truncated(body, after: 100_000, fields: ["ETag": "\"1\""]) }
            guard let range = request.value(of: "Range"), let start = Int(range.dropFirst(6).dropLast()) else {
                return .ok(other, fields: ["ETag": "\"2\""])
            }
            // A part of the other version, described as what it is not, or not at all.
            let rest = other.dropFirst(start)
            switch kind {
            case 0:
                return .status(
                    206,
                    fields: ["ETag": "\"2\"", "Content-Range": "bytes \(start)-\(total - 1)/\(total)"],
                    body: rest
                )
            case 1: return .status(206, fields: ["ETag": "\"1\""], body: rest)
            case 2:
                return .status(
                    206,
                    fields: ["ETag": "\"1\"", "Content-Range": "bytes 0-\(total - 1)/\(total)"],
                    body: rest
                )
            case 3:
                return .status(
                    206,
                    fields: ["ETag": "\"1\"", "Content-Range": "bytes \(start)-\(total)/\(total + 1)"],
                    body: rest
                )
            default: return .status(416, fields: ["Content-Range": "bytes */\(start - 1)"])
            }
        }
        let client = try client()
        await #expect(throws: URLError.self) { try await client.download(for: origin.url("/"), to: file) }
        try await client.download(for: origin.url("/"), to: file)
        #expect(try Data(contentsOf: file) == other)
    }

    @Test("keeps what has arrived when its task is cancelled")
    func cancel() async throws {
        let gate = try ScriptedOrigin.Gate()
        defer { gate.open() }
        let origin = try ScriptedOrigin { [body] _ in
            .stream(
                [.bytes(body.prefix(1_000)), .wait(gate)],
                fields: ["ETag": "\"1\""],
                framing: .declaredLength(body.count)
            )
        }
        let (client, file) = (try client(), file)
        let (arrivals, arrival) = AsyncStream<Int>.makeStream()
        let task = Task {
            try await client.download(for: origin.url("/"), to: file) { arrival.yield($0.completed) }
        }
        for await count in arrivals where count == 1_000 { break }
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
        #expect(try names == ["a file.bin.part", "a file.bin.part.json"])
    }

    @Test("refuses a rest that is longer than the file")
    func tooLong() async throws {
        let count = Counter()
        let origin = try ScriptedOrigin { [body] _ in
            guard count.next() > 1 else { return .truncated(body, after: 100_000, fields: ["ETag": "\"1\""]) }
            let range = "bytes 100000-\(body.count - 1)/\(body.count)"
            return .status(206, fields: ["ETag": "\"1\"", "Content-Range": range], body: body)
        }
        let client = try client()
        for _ in 1...2 {
            await #expect(throws: URLError.self) { try await client.download(for: origin.url("/"), to: file) }
        }
        #expect(try !names.contains("a file.bin"))
    }

    @Test("into one file by two calls at a time fails for at least one of them, and the file is whole")
    func twice() async throws {
        let gate = try ScriptedOrigin.Gate()
        let count = Counter()
        let origin = try ScriptedOrigin { [body] _ in
            guard count.next() == 1 else { return .ok(body, fields: ["ETag": "\"1\""]) }
            return .stream(
                [.bytes(body.prefix(1_000)), .wait(gate), .bytes(body.dropFirst(1_000))],
                fields: ["ETag": "\"1\""],
                framing: .contentLength
            )
        }
        let (client, file) = (try client(), file)
        let (arrivals, arrival) = AsyncStream<Int>.makeStream()
        let first = Task {
            try await client.download(for: origin.url("/"), to: file) { arrival.yield($0.completed) }
        }
        for await count in arrivals where count == 1_000 { break }
        try await client.download(for: origin.url("/"), to: file)
        gate.open()
        await #expect(throws: URLError.self) { try await first.value }
        #expect(try Data(contentsOf: file) == body)
    }

    @Test("changes no file for a status other than success", arguments: [404, 500, 204])
    func refused(status: Int) async throws {
        try Data("old".utf8).write(to: file)
        let origin = try ScriptedOrigin { _ in .status(status) }
        let client = try client()
        await #expect {
            try await client.download(for: origin.url("/"), to: file)
        } throws: {
            ($0 as? URLError)?.code == .badServerResponse && $0.localizedDescription.contains("\(status)")
        }
        #expect(try Data(contentsOf: file) == Data("old".utf8))
        #expect(try names == ["a file.bin"])
    }

    @Test("is a GET into a file that can be written")
    func misuse() async throws {
        let origin = try ScriptedOrigin { _ in .ok("a") }
        let client = try client()
        let authority = "127.0.0.1:\(origin.port)"
        let post = HTTPRequest(method: .post, scheme: "http", authority: authority, path: "/")
        await #expect(throws: URLError.self) { try await client.download(for: post, to: file) }
        #expect(origin.requestCount == 0)
        await #expect {
            try await client.download(for: origin.url("/"), to: URL(filePath: "/no/such/folder/file"))
        } throws: {
            ($0 as? URLError)?.code == .cannotWriteToFile
        }
    }

    @Test("is answered by the rules, and is stored for them")
    func rules() async throws {
        let fixture = try CachingFixture { [body] _ in
            .ok(body, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""])
        }
        let client = fixture.interceptor.client(configuration: .ephemeral)
        for _ in 1...2 {
            let head = try await client.download(for: fixture.origin.url("/"), to: file)
            #expect(head.status == .ok)
            #expect(try Data(contentsOf: file) == body)
            await fixture.cache.flush()
        }
        #expect(fixture.asked == ["GET /"])
    }
}
