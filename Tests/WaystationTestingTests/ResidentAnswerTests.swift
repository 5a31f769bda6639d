import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationRecording
import WaystationTesting

/// Which answers of stubs and recordings a load gets without an exchange.
@Suite(.timeLimit(.minutes(10)))
struct ResidentAnswerTests {
    private let folder = RecordingFolder()

    private func request(_ path: String, method: String = "GET") throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://api.example" + path)))
        request.httpMethod = method
        return request
    }

    // MARK: - Recordings

    @Test func `an entry is answered at once, once, and in the order of the recording`() async throws {
        let stubs = try Stubs { Stub(.get("https://api.example/n"), .ok("one"), .ok("two")) }
        let first = try folder.recording(network: stubs)
        let session = try first.makeSession()
        for _ in 0..<2 { _ = try await session.load("https://api.example/n") }
        try first.verify()
        #expect(first.residentResponse(to: try request("/n")) == nil)

        let second = try folder.recording(network: .unreachable)
        #expect(second.residentResponse(to: try request("/m")) == nil)
        #expect(second.residentResponse(to: try request("/n", method: "POST")) == nil)
        #expect(second.residentResponse(to: try request("/n"))?.text == "one")
        #expect(throws: StubError.self) { try second.verify() }
        #expect(try await second.makeSession().load("https://api.example/n").text == "two")
        #expect(second.residentResponse(to: try request("/n")) == nil)
        try second.verify()
        let error = try await second.makeSession().failure("https://api.example/n")
        #expect(error?.localizedDescription.contains("more often") ?? false)
        #expect(throws: StubError.self) { try second.verify() }
    }

    @Test func `an entry with a body in a file, with more requests to follow or to record again needs an exchange`()
        async throws
    {
        let stubs = try Stubs {
            Stub(.get("https://api.example/long"), .ok(String(repeating: "a", count: 20 << 10)))
            Stub(.get("https://api.example/old"), .redirect(to: "/new"))
            Stub(.get("https://api.example/new"), .ok("new"))
            Stub(.get("https://api.example/refused"), .status(401))
            Stub(.get("https://api.example/stale"), .ok("stale"), .ok("fresh"))
        }
        let paths = ["/long", "/old", "/refused", "/stale"]
        let first = try folder.recording(network: stubs)
        let recorded = try first.makeSession()
        for path in paths { _ = try await recorded.load("https://api.example" + path) }
        try first.verify()

        let second = try folder.recording(network: stubs, override: "GET https://api.example/stale")
        for path in paths { #expect(second.residentResponse(to: try request(path)) == nil) }
        let session = try second.makeSession()
        #expect(try await session.load("https://api.example/long").text.utf8.count == 20 << 10)
        #expect(try await session.load("https://api.example/old").text == "new")
        #expect(try await session.load("https://api.example/refused").response.statusCode == 401)
        #expect(try await session.load("https://api.example/stale").text == "fresh")
        try second.verify()
    }

    @Test(arguments: ["/a?token=1&b=2#part", "/a?b=2&token=", "/b", "/%7Ec"])
    func `an entry is found without secrets, fragment and spelling, and keeps the caller's URL`(
        path: String
    )
        async throws
    {
        let stubs = try Stubs { Stub(.get("https://api.example/**"), .ok("found", fields: ["X-A": "1"])) }
        let first = try folder.recording(network: stubs)
        _ = try await first.makeSession().load("https://user@api.example" + path)
        try first.verify()
        for isResident in [true, false] {
            let second = try folder.recording(network: .unreachable)
            let session = try session(second, isResident: isResident)
            let other = path.replacing("token=1", with: "token=s3cret").replacing("%7E", with: "~")
            let (text, response) = try await session.load("https://other@api.example" + other)
            #expect(text == "found")
            #expect(response.url?.absoluteString == "https://other@api.example" + other)
            #expect(response.value(forHTTPHeaderField: "x-a") == "1")
            try second.verify()
        }
    }

    @Test func `an exchange gives the same responses`() async throws {
        let fields = [
            ["Content-Type": "text/plain"], ["ETag": "\"a\"", "x-lower": "1"], ["Content-Length": "900"],
            ["Content-Encoding": "gzip"], ["Cache-Control": "no-store"], ["Set-Cookie": "id=1"],
        ]
        let statuses = [200, 204, 206, 304, 404, 500]
        let network = ScriptedTransport { request in
            let number = Int(request.url?.lastPathComponent ?? "") ?? 0
            return .status(statuses[number], fields: fields[number], body: Data("body \(number)".utf8))
        }
        let first = try folder.recording(network: network)
        let recorded = try first.makeSession()
        for number in 0..<6 { _ = try await recorded.load("https://api.example/\(number)") }
        try first.verify()
        var seen: [[String]] = []
        for isResident in [true, false] {
            let second = try folder.recording(network: .unreachable)
            let session = try session(second, isResident: isResident)
            var lines: [String] = []
            for number in 0..<6 {
                let (text, response) = try await session.load("https://api.example/\(number)")
                let fields = response.allHeaderFields as? [String: String] ?? [:]
                lines.append("\(response.statusCode) \(text) \(fields.sorted { $0.key < $1.key })")
            }
            seen.append(lines)
            try second.verify()
        }
        #expect(seen[0] == seen[1])
    }

    /// A session of a recording that answers at once where it can, or by exchanges alone.
    private func session(_ recording: Recording, isResident: Bool) throws -> URLSession {
        if isResident { return try recording.makeSession() }
        let interceptor = try Interceptor {
            $0.rules = [.allow("*://*:*/**", via: .carried(by: Exchanges(transport: recording), as: "exchanges"))]
        }
        return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    /// Starts every request of another transport.
    private struct Exchanges: Transport {
        let transport: any Transport

        func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
            transport.start(request, receiver: receiver)
        }
    }

    // MARK: - Stubs

    private struct Weather: Encodable {
        let celsius = 21
    }

    private static let answers: [(StubAnswer, text: String?)] = [
        (.ok("text"), "text"), (.status(404), ""), (.json(["celsius": 21]), #"{"celsius":21}"#),
        (.json([["a": nil, "b": 1.5]]), #"[{"a":null,"b":1.5}]"#), (.json(["a": [1, "b"]]), #"{"a":[1,"b"]}"#),
        (.parts([Data("one".utf8)]), "one"), (.parts([Data("one".utf8), Data("two".utf8)]), nil),
        (.json(Weather()), nil), (.json([Weather()]), nil), (.template("{method}"), nil),
        (.file(URL(fileURLWithPath: "/none")), nil),
        (.redirect(to: "/other"), nil), (.status(401), nil), (.failure(.timedOut), nil), (.unanswered, nil),
        (.ok("late").delayed(by: .seconds(1)), nil), (.ok("held").held(at: ScriptedTransport.Gate()), nil),
        (.truncated(Data("whole".utf8), after: 2), nil),
    ]

    @Test(arguments: answers)
    func `an answer is given at once if it is one whole response and no code of the test makes it`(
        answer: StubAnswer,
        text: String?
    ) throws {
        let stubs = try Stubs { Stub(.any("https://api.example/**"), answer) }
        #expect(stubs.residentResponse(to: try request("/a"))?.text == text)
        #expect(stubs.residentResponse(to: try request("/a", method: "HEAD")) == nil)
        // Otherwise the exchange counts the request.
        #expect(stubs.calls.count == (text == nil ? 0 : 1))
    }

    @Test func `no code of the test runs on the loading queue`() throws {
        let stubs = try Stubs {
            Stub(.get("https://api.example/made")) { _ in .ok("made") }
            Stub(.get("https://api.example/plain"), .ok("plain"))
        }
        #expect(stubs.residentResponse(to: try request("/made")) == nil)
        #expect(stubs.residentResponse(to: try request("/plain"))?.text == "plain")
        try stubs.add(Stub(.get("https://api.example/*").where(otherwise: "never") { _ in false }))
        #expect(stubs.residentResponse(to: try request("/plain")) == nil)
    }

    @Test func `requests that are answered at once are counted, kept and ordered like others`() throws {
        let stubs = try Stubs(inOrder: true) {
            Stub(.get("https://api.example/a"), .ok("one"), .ok("two")).atLeast(2)
            Stub(.post("https://api.example/b").body("sent"), .status(201)).once()
        }
        #expect(stubs.residentResponse(to: try request("/a"))?.text == "one")
        var post = try request("/b", method: "POST")
        post.httpBody = Data("sent".utf8)
        // Out of order: the exchange reports it.
        #expect(stubs.residentResponse(to: post) == nil)
        #expect(stubs.residentResponse(to: try request("/a"))?.text == "two")
        #expect(throws: StubError.self) { try stubs.verify() }
        #expect(stubs.residentResponse(to: post) != nil)
        // Its turn is over, and so is that of the stub before.
        #expect(stubs.residentResponse(to: post) == nil)
        #expect(stubs.residentResponse(to: try request("/a")) == nil)
        #expect(stubs.calls.map { "\($0.method) \($0.url.path)" } == ["GET /a", "GET /a", "POST /b"])
        #expect(stubs.calls.map(\.text) == ["", "", "sent"])
        try stubs.verify()
    }

    @Test func `the first stub that may still be asked answers at once, too`() throws {
        let stubs = try Stubs {
            Stub(.get("https://api.example/a"), .ok("once")).once()
            Stub(.get("https://api.example/*"), .ok("then"))
        }
        #expect(stubs.residentResponse(to: try request("/a"))?.text == "once")
        #expect(stubs.residentResponse(to: try request("/a"))?.text == "then")
        #expect(stubs.residentResponse(to: try request("/a"))?.text == "then")
    }
}

extension ResidentResponse {
    fileprivate var text: String { String(decoding: body, as: UTF8.self) }
}
