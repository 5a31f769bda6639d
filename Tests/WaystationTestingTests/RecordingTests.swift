import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationRecording
import WaystationTesting

@Suite(.timeLimit(.minutes(10)))
struct RecordingTests {
    private let folder = RecordingFolder()

    @Test func `the first run records, and later runs replay without a network`() async throws {
        let network = ScriptedTransport { request in
            request.url?.path == "/a" ? .redirect(to: "/b") : .ok("body", fields: ["Content-Type": "text/plain"])
        }
        let first = try folder.recording(network: network)
        #expect(first.mode == .record)
        #expect(try await first.makeSession().load("https://api.example/a").text == "body")
        try first.verify()
        #expect(network.requests.count == 2)

        let second = try folder.recording(network: .unreachable)
        #expect(second.mode == .replay)
        let (text, response) = try await second.makeSession().load("https://api.example/a")
        #expect(text == "body")
        #expect(response.url?.path == "/b")
        #expect(response.value(forHTTPHeaderField: "Content-Type") == "text/plain")
        try second.verify()
    }

    @Test func `equal requests are answered in the order in which they were recorded`() async throws {
        let stubs = try Stubs { Stub(.get("https://api.example/n"), .ok("one"), .ok("two"), .status(503)) }
        let first = try folder.recording(network: stubs)
        let recorded = try first.makeSession()
        for _ in 0..<3 { _ = try await recorded.load("https://api.example/n") }
        try first.verify()
        let second = try folder.recording(network: .unreachable)
        let session = try second.makeSession()
        #expect(try await session.load("https://api.example/n").text == "one")
        #expect(try await session.load("https://api.example/n").text == "two")
        #expect(try await session.load("https://api.example/n").response.statusCode == 503)
        try second.verify()
    }

    @Test func `bodies of every kind come back byte for byte`() async throws {
        let bodies = [
            ("text", "text/plain; charset=utf-8", Data("grün".utf8)), ("latin", "text/plain", Data([0x67, 0xFC])),
            ("image", "image/png", Data((0...255).map { UInt8($0) })), ("empty", "text/plain", Data()),
        ]
        let network = ScriptedTransport { request in
            let body = bodies.first { "/\($0.0)" == request.url?.path } ?? bodies[3]
            return .status(200, fields: ["Content-Type": body.1], body: body.2)
        }
        for network: any Transport in [network, .unreachable] {
            let recording = try folder.recording(network: network)
            let session = try recording.makeSession()
            for (name, _, body) in bodies {
                let url = try #require(URL(string: "https://api.example/\(name)"))
                #expect(try await session.data(from: url).0 == body)
            }
            try recording.verify()
        }
    }

    @Test func `requests with bodies are compared as JSON, and uploads are recorded`() async throws {
        let stubs = try Stubs { Stub(.post("https://api.example/o")) { .ok("got \($0.text)") } }
        let url = try #require(URL(string: "https://api.example/o"))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        let parts: [RecordedPart] = [.method, .url, .body]
        let first = try folder.recording(matching: parts, network: stubs)
        let recorded = try first.makeSession()
        for body in [#"{"a":1,"b":2}"#, #"{"a":3}"#] {
            _ = try await recorded.upload(for: request, from: Data(body.utf8))
        }
        try first.verify()
        let second = try folder.recording(matching: parts, network: .unreachable)
        let session = try second.makeSession()
        let later = try await session.upload(for: request, from: Data(#"{"a":3}"#.utf8)).0
        #expect(String(decoding: later, as: UTF8.self) == #"got {"a":3}"#)
        request.httpBodyStream = InputStream(data: Data(#"{ "b": 2, "a": 1 }"#.utf8))
        let earlier = try await session.data(for: request).0
        #expect(String(decoding: earlier, as: UTF8.self) == #"got {"a":1,"b":2}"#)
        try second.verify()
    }

    @Test(arguments: ["application/json", "application/x-www-form-urlencoded", nil])
    func `no secret reaches the file, and requests match without them`(type: String?) async throws {
        let stubs = try Stubs {
            Stub(
                .post("https://api.example/login"),
                .json(["access_token": "response-secret"], fields: ["Set-Cookie": "sid=cookie-secret; Path=/"])
            )
        }
        func log(in session: URLSession, _ secret: String) async throws -> String {
            let url = try #require(URL(string: "https://api.example/login?token=query-\(secret)&page=1"))
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.setValue("Bearer field-\(secret)", forHTTPHeaderField: "Authorization")
            request.setValue(type, forHTTPHeaderField: "Content-Type")
            request.httpBody = Data(#"{"password":"body-\#(secret)"}"#.utf8)
            return String(decoding: try await session.data(for: request).0, as: UTF8.self)
        }
        let parts: [RecordedPart] = [.method, .url, .body]
        let first = try folder.recording(matching: parts, network: stubs)
        #expect(try await log(in: first.makeSession(), "secret").contains("response-secret"))
        try first.verify()
        let text = try String(contentsOf: folder.file, encoding: .utf8)
        #expect(!text.contains("-secret"))
        #expect(text.contains(Redaction.placeholder))

        let second = try folder.recording(matching: parts, network: .unreachable)
        #expect(try await log(in: second.makeSession(), "other") == #"{"access_token":"[redacted]"}"#)
        try second.verify()
    }

    @Test func `a secret that is repeated in the response is not recorded`() async throws {
        let stubs = try Stubs {
            Stub(.get("https://api.example/echo")) { .ok("you are \($0.field("Authorization") ?? "")") }
        }
        let recording = try folder.recording(network: stubs)
        let session = try recording.makeSession()
        var request = URLRequest(url: try #require(URL(string: "https://api.example/echo?page=1")))
        request.setValue("Bearer secret-of-ada", forHTTPHeaderField: "Authorization")
        #expect(try await session.data(for: request).0.count > 20)
        let error = #expect(throws: StubError.self) { try recording.verify() }
        #expect(error?.code == .secretFound)
        #expect(!folder.exists)
    }

    @Test func `one entry is recorded again, and the others stay`() async throws {
        let old = try Stubs {
            Stub(.get("https://api.example/a"), .ok("old a"))
            Stub(.get("https://api.example/b"), .ok("old b"))
        }
        let paths = ["a", "b"]
        let first = try folder.recording(network: old)
        for path in paths { _ = try await first.makeSession().load("https://api.example/\(path)") }
        try first.verify()

        let new = try Stubs { Stub(.get("https://api.example/**"), .ok("new")) }
        let second = try folder.recording(network: new, override: "GET https://api.example/b")
        for path in paths { _ = try await second.makeSession().load("https://api.example/\(path)") }
        // The pattern also takes a request that the recording has only once.
        _ = try await second.makeSession().load("https://api.example/b")
        try second.verify()
        #expect(new.calls.map(\.description) == ["GET https://api.example/b", "GET https://api.example/b"])

        let third = try folder.recording(network: .unreachable)
        var texts: [String] = []
        for path in paths { texts.append(try await third.makeSession().load("https://api.example/\(path)").text) }
        #expect(texts == ["old a", "new"])
        #expect(try await third.makeSession().load("https://api.example/b").text == "new")
        try third.verify()
    }

    @Test func `the environment overrides the mode`() async throws {
        let stubs = try Stubs { Stub(.get("https://api.example/a"), .ok("1"), .ok("2"), .ok("3")) }
        for (override, text) in [("record", "1"), ("record", "2"), ("passthrough", "3"), ("replay", "2")] {
            let recording = try folder.recording(network: stubs, override: override)
            #expect(recording.mode.rawValue == override)
            #expect(try await recording.makeSession().load("https://api.example/a").text == text)
            try recording.verify()
        }
    }

    @Test func `parts of requests can be left out of the comparison`() async throws {
        let stubs = try Stubs { Stub(.any("*://*:*/**"), .ok("same")) }
        let first = try folder.recording(network: stubs)
        _ = try await first.makeSession().load("https://api.example/a?time=1&id=7")
        try first.verify()
        for (parts, url, matches) in [
            ([RecordedPart.url(without: ["time"])], "https://api.example/a?id=7&time=2", true),
            ([.url(without: ["time"])], "https://api.example/a?id=8&time=1", false),
            ([.path], "http://other.example:8080/a?time=1&id=7", true),
            ([.url], "https://API.example:443/a?time=1&id=7", true),
            ([.method, .field("Accept-Language")], "https://x.example/", true),
        ] {
            let recording = try folder.recording(matching: parts, network: .unreachable)
            #expect((try? await recording.makeSession().load(url).text) == (matches ? "same" : nil), "\(url)")
        }
    }

    @Test func `a load that is cancelled while it is recorded leaves no entry`() async throws {
        let gate = ScriptedTransport.Gate()
        let network = ScriptedTransport { $0.url?.path == "/held" ? .ok("held").held(at: gate) : .ok("whole") }
        let recording = try folder.recording(network: network)
        let session = try recording.makeSession()
        let held = Task { try await session.load("https://api.example/held") }
        await network.waitForRequests(1)
        held.cancel()
        await network.waitForCancelledRequests(1)
        _ = try await session.load("https://api.example/whole")
        try recording.verify()
        #expect(try HARArchive(contentsOf: folder.file).entries.map(\.request.url) == ["https://api.example/whole"])
    }

    @Test func `a route of a rule replays`() async throws {
        try Data(cassetteOfReplay.utf8).write(to: folder.file)
        let route = try Route.recorded(in: folder.file, mode: .replay)
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://example.com/**", via: route), .block("*://*:*/**")]
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        #expect(try await session.load("https://example.com/fruits.json").text == #"["apple","banana"]"#)
        #expect(await session.failure("https://other.example/")?.code == .resourceUnavailable)
    }

    @Test func `a body beside the recording is read, and one outside of its folder is not`() async throws {
        let har = { (file: String) in
            #"{"log":{"version":"1.2","entries":[{"request":{"method":"GET","url":"https://a.example/"},"#
                + #""response":{"status":200,"content":{"size":4,"_file":"\#(file)"}}}]}}"#
        }
        try Data("text".utf8).write(to: folder.url.appending(path: "body.txt"))
        try Data(har("body.txt").utf8).write(to: folder.file)
        #expect(
            try await folder.recording(network: .unreachable).makeSession().load("https://a.example/").text == "text"
        )
        for outside in [
            "../\(folder.url.lastPathComponent)/body.txt", folder.url.appending(path: "body.txt").path, "gone",
        ] {
            try Data(har(outside).utf8).write(to: folder.file)
            let failure = try await folder.recording(network: .unreachable).makeSession().failure("https://a.example/")
            #expect(failure?.localizedDescription.contains("the body should be in the file \(outside)") ?? false)
        }
    }

    @Test func `long bodies and bytes get files with readable names, and small text stays in the recording`()
        async throws
    {
        let long = String(repeating: "long ", count: 4_000)
        let answers = [
            "/photos/7.png": ("image/png", Data([0x89, 0x50, 0xFF])), "/list": ("application/json", Data(long.utf8)),
            "/short": ("text/plain", Data("short".utf8)), "/raw": ("application/x-own", Data([0xFF, 0xFE])),
        ]
        let network = ScriptedTransport { request in
            let (type, body) = answers[request.url?.path ?? ""] ?? ("text/plain", Data())
            return .status(200, fields: ["Content-Type": type], body: body)
        }
        let targets = ["/photos/7.png", "/list?page=1", "/list?page=2", "/short", "/raw"]
        for network: any Transport in [network, .unreachable] {
            let recording = try folder.recording(network: network)
            let session = try recording.makeSession()
            for target in targets {
                let url = try #require(URL(string: "https://api.example\(target)"))
                #expect(try await session.data(from: url).0 == answers[url.path]?.1)
            }
            try recording.verify()
        }
        let names = [
            "GET-api.example-list-2.json", "GET-api.example-list.json", "GET-api.example-photos-7.png",
            "GET-api.example-raw.bin",
        ]
        #expect(try folder.bodies == names)
        let archive = try HARArchive(contentsOf: folder.file)
        #expect(archive.entries.map(\.response.content.text) == [nil, nil, nil, "short", nil])
    }

    @Test func `body files that no entry has any more are removed`() async throws {
        let image = ScriptedTransport { _ in .status(200, fields: ["Content-Type": "image/png"], body: Data([0xFF])) }
        func record(
            _ mode: RecordingMode,
            _ targets: [String],
            _ network: ScriptedTransport,
            again: String? = nil
        )
            async throws
        {
            let recording = try folder.recording(mode, network: network, override: again)
            let session = try recording.makeSession()
            for target in targets {
                _ = try await session.data(from: URL(string: "https://a.example\(target)") ?? folder.url)
            }
            try recording.verify()
        }
        try await record(.record, ["/a", "/b"], image)
        #expect(try folder.bodies == ["GET-a.example-a.png", "GET-a.example-b.png"])
        // One entry is recorded again, with other bytes under the same name; the other one is kept.
        let other = ScriptedTransport { _ in .status(200, fields: ["Content-Type": "image/png"], body: Data([0xFE])) }
        try await record(.once, ["/a", "/b"], other, again: "GET https://a.example/a")
        #expect(try folder.bodies == ["GET-a.example-a.png", "GET-a.example-b.png"])
        #expect(try Data(contentsOf: folder.bodyFolder.appending(path: "GET-a.example-a.png")) == Data([0xFE]))
        #expect(try Data(contentsOf: folder.bodyFolder.appending(path: "GET-a.example-b.png")) == Data([0xFF]))
        try await record(.record, ["/b"], image)
        #expect(try folder.bodies == ["GET-a.example-b.png"])
        let text = ScriptedTransport { _ in .ok("text", fields: ["Content-Type": "text/plain"]) }
        try await record(.record, ["/b"], text)
        #expect(!FileManager.default.fileExists(atPath: folder.bodyFolder.path))
    }

    @Test func `a recording that could not be written is written by the next call`() async throws {
        let network = ScriptedTransport { _ in .status(200, fields: ["Content-Type": "image/png"], body: Data([0xFF])) }
        let recording = try folder.recording(.record, network: network)
        let url = try #require(URL(string: "https://a.example/a"))
        _ = try await recording.makeSession().data(from: url)
        for inTheWay in [folder.bodyFolder.appending(path: "GET-a.example-a.png"), folder.file] {
            try FileManager.default.createDirectory(
                at: inTheWay.appending(path: "folder"),
                withIntermediateDirectories: true
            )
            for _ in 0..<2 {
                #expect(#expect(throws: StubError.self) { try recording.save() }?.code == .unwritableRecording)
                #expect(#expect(throws: StubError.self) { try recording.verify() }?.code == .unwritableRecording)
            }
            try FileManager.default.removeItem(at: inTheWay)
        }
        try recording.verify()
        #expect(try folder.bodies == ["GET-a.example-a.png"])
        let replayed = try folder.recording(network: .unreachable).makeSession()
        #expect(try await replayed.data(from: url).0 == Data([0xFF]))
    }

    @Test func `a recording stays whole when the one that should replace it cannot be written`() async throws {
        func network(_ byte: UInt8) -> ScriptedTransport {
            ScriptedTransport { _ in .status(200, fields: ["Content-Type": "image/png"], body: Data([byte])) }
        }
        let url = try #require(URL(string: "https://a.example/a"))
        let first = try folder.recording(.record, network: network(1))
        _ = try await first.makeSession().data(from: url)
        try first.verify()

        // JSON has no number for the time of the second exchange, which begins at 0 and ends at infinity.
        let times = Mutex([0.0])
        let second = try Recording(folder.file, .record, network: network(2), override: nil) {
            Date(timeIntervalSince1970: times.withLock { $0.popLast() ?? .infinity })
        }
        _ = try await second.makeSession().data(from: url)
        #expect(#expect(throws: StubError.self) { try second.verify() }?.code == .unwritableRecording)
        #expect(try folder.bodies == ["GET-a.example-a.png"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).count == 2)
        let replayed = try folder.recording(network: .unreachable)
        #expect(try await replayed.makeSession().data(from: url).0 == Data([1]))
    }

    @Test func `bodies stay in the recording where that is wanted`() async throws {
        let network = ScriptedTransport { _ in .status(200, fields: [:], body: Data([0xFF])) }
        let recording = try Recording(folder.file, .once, bodies: .inline, network: network, override: nil) { .now }
        _ = try await recording.makeSession().data(from: try #require(URL(string: "https://a.example/")))
        try recording.verify()
        let content = try HARArchive(contentsOf: folder.file).entries.first?.response.content
        #expect(content?.text == "/w==")
        #expect(content?.encoding == "base64")
    }

    @Test func `a replayed recording passes through faults`() async throws {
        try Data(cassetteOfReplay.utf8).write(to: folder.file)
        let recording = try folder.recording(network: .unreachable)
        let session = try recording.makeSession(faults: .offline)
        #expect(await session.failure("https://example.com/fruits.json")?.code == .notConnectedToInternet)
    }
}

/// A folder of its own for each test.
final class RecordingFolder: Sendable {
    let url: URL
    var file: URL { url.appending(path: "orders.har") }
    var exists: Bool { FileManager.default.fileExists(atPath: file.path) }

    var bodyFolder: URL { url.appending(path: "orders.bodies") }
    var bodies: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: bodyFolder.path).sorted() }
    }

    init() {
        url = FileManager.default.temporaryDirectory.appending(path: "recording-\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func recording(
        _ mode: RecordingMode = .once,
        matching parts: [RecordedPart] = [.method, .url],
        network: any Transport,
        override: String? = nil,
        expiresAfter expiry: Duration? = nil,
        now: Date = Date(timeIntervalSince1970: 1_800_000_000)
    ) throws -> Recording {
        try Recording(
            file,
            mode,
            matching: parts,
            expiresAfter: expiry,
            network: network,
            override: override,
            now: { now }
        )
    }
}

extension Transport where Self == ScriptedTransport {
    /// A network that fails the test's loads.
    static var unreachable: ScriptedTransport { ScriptedTransport { _ in .failed(.notConnectedToInternet) } }
}
