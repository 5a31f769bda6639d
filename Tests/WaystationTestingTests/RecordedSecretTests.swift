import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationRecording
import WaystationTesting

/// The secrets of a run, in everything that a recording writes.
@Suite(.timeLimit(.minutes(3)))
struct RecordedSecretTests {
    private let folder = RecordingFolder()

    /// The text of the recording and of its bodies; bytes in Base64 are decoded.
    private func written() throws -> String {
        guard folder.exists else { return "" }
        var text = try String(contentsOf: folder.file, encoding: .utf8)
        for entry in try HARArchive(contentsOf: folder.file).entries {
            if let body = try? entry.response.body(in: folder.url) { text += String(decoding: body, as: UTF8.self) }
            if let body = entry.request.postData { text += body.text }
        }
        return text
    }

    private func request(
        _ path: String = "/a",
        _ fields: [String: String] = [:],
        body: String? = nil
    ) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "https://api.example\(path)")))
        request.allHTTPHeaderFields = fields
        if let body {
            request.httpMethod = "POST"
            request.httpBody = Data(body.utf8)
        }
        return request
    }

    /// Records requests, each answered with a body of plain text, and returns the error of the verification.
    private func record(
        _ requests: [URLRequest],
        _ bodies: [String],
        fields: [String: String] = ["Content-Type": "text/plain"]
    ) async throws -> StubError? {
        var rest = bodies
        let answers = requests.map { _ in rest.removeFirst() }
        let stubs = try Stubs {
            Stub(.any("https://api.example/**")) { call in
                let index = requests.firstIndex { $0.url == call.url } ?? 0
                return .ok(answers[index], fields: fields)
            }
        }
        let recording = try folder.recording(network: stubs)
        let session = try recording.makeSession()
        for request in requests { _ = try await session.data(for: request) }
        do throws(StubError) {
            try recording.verify()
            return nil
        } catch { return error }
    }

    @Test(
        arguments: [
            "Authorization", "Proxy-Authorization", "api-key", "X-Goog-Api-Key", "PRIVATE-TOKEN", "X-Vault-Token",
            "Ocp-Apim-Subscription-Key", "X-Session-Token", "token", "X-API-Key",
        ]
    )
    func `the fields of well-known services are not written, nor are their values where a body repeats them`(
        field: String
    ) async throws {
        let error = try await record([try request("/a", [field: "s3cret-value"]), try request("/b")], ["x", "y"])
        #expect(error == nil)
        #expect(try !written().contains("s3cret"))
        try FileManager.default.removeItem(at: folder.file)
        let repeated = try await record([try request("/a", [field: "s3cret-value"])], ["you sent s3cret-value"])
        #expect(repeated?.code == .secretFound)
        #expect(repeated?.message.contains(field) == true)
        #expect(repeated?.message.contains("s3cret") == false)
        #expect(try !written().contains("s3cret"))
    }

    /// Requests with a secret in another place each, and the forms in which a text may repeat it.
    @Test(
        arguments: [
            ("/a?token=abc%2Fdef%20ghi", nil, nil),
            ("/a", "application/x-www-form-urlencoded", "user=anna&password=abc%2fdef+ghi"),
            ("/a", "application/json", #"{"user":"anna","password":"abc\/def ghi"}"#),
            ("/a", "text/plain", #"{"user":{"login":{"password":"abc\u002fdef ghi"}}}"#),
            ("/a", "application/xml", "<login><password>abc&#x2F;def ghi</password></login>"),
        ],
        [
            "abc/def ghi", "abc%2Fdef%20ghi", "abc%2fdef+ghi", #"{"x":"abc\/def ghi"}"#, #""abc\u002Fdef ghi""#,
            "<p>abc&#47;def ghi</p>", #"{"x":"{\"y\":\"abc\\/def ghi\"}"}"#, "%2561bc%252Fdef%2520ghi",
            Data("user:abc/def ghi".utf8).base64EncodedString(),
            "data:;base64," + Data("0abc/def ghi".utf8).base64EncodedString(),
        ]
    )
    func `a secret of a request is found in a text of the response, however it is coded`(
        sent: (path: String, type: String?, body: String?),
        repeated: String
    ) async throws {
        let fields = sent.type.map { ["Content-Type": $0] } ?? [:]
        let error = try await record([try request(sent.path, fields, body: sent.body)], ["got \(repeated) !"])
        #expect(error?.code == .secretFound)
        #expect(error?.message.contains("the response's body") == true)
        #expect(!folder.exists)
    }

    @Test func `the password of Basic is a secret by itself, and so are a password in a URL and a token in a response`()
        async throws
    {
        let basic = "Basic " + Data("anna:hunter2".utf8).base64EncodedString()
        #expect(
            try await record([request("/a", ["Authorization": basic])], ["password hunter2 is wrong"])?.code
                == .secretFound
        )
        var url = try request()
        url.url = URL(string: "https://anna:hunter2@api.example/a")
        #expect(try await record([url], ["hunter2"])?.code == .secretFound)
        let fields = ["Content-Type": "application/json"]
        let minted = #"{"access_token":"s3cret-minted","note":"keep s3cret-minted safe"}"#
        #expect(try await record([request()], [minted], fields: fields)?.code == .secretFound)
        // The user's name is no secret.
        #expect(try await record([request("/a", ["Authorization": basic])], ["hello anna"]) == nil)
    }

    @Test func `a JSON token of a plain text is left out like one of JSON`() async throws {
        #expect(try await record([request()], [#"{"access_token":"s3cret","n":12345678901234567890}"#]) == nil)
        let body = try HARArchive(contentsOf: folder.file).entries.first?.response.content.text
        #expect(body == #"{"access_token":"[redacted]","n":12345678901234567890}"#)
    }

    @Test func `a secret that a later request shows is found in an earlier response, and its entry is taken out again`()
        async throws
    {
        let network = ScriptedTransport { request in
            .ok(request.url?.path == "/mint" ? "take s3cret-minted" : "fine", fields: ["Content-Type": "text/plain"])
        }
        let recording = try folder.recording(network: network)
        let session = try recording.makeSession()
        _ = try await session.load("https://api.example/mint")
        try recording.save()
        #expect(try written().contains("s3cret-minted"))
        _ = try await session.data(for: request("/use", ["Authorization": "Bearer s3cret-minted"]))
        let error = #expect(throws: StubError.self) { try recording.verify() }
        #expect(error?.code == .secretFound)
        #expect(error?.message.contains("GET https://api.example/mint was not recorded") == true)
        #expect(try !written().contains("s3cret"))
        #expect(try HARArchive(contentsOf: folder.file).entries.map(\.request.url) == ["https://api.example/use"])
    }

    // Each has a file of its own: a recording that is released writes what has arrived since.
    @Test(arguments: ["/set", "/held"])
    func `each cookie of a response is a secret, also in a later exchange and after a cancelled one`(
        path: String
    ) async throws {
        let cookies = "a=1; Path=/, sid=s3cret-second; Path=/; Expires=Wed, 09 Jun 2027 10:00:00 GMT"
        let gate = ScriptedTransport.Gate()
        let network = ScriptedTransport { request in
            switch request.url?.path {
            case "/set": .ok("set", fields: ["Set-Cookie": cookies])
            case "/held": ScriptedTransport.Answer([.head(200, fields: ["Set-Cookie": cookies]), .wait(gate), .end])
            default: .ok("you are s3cret-second", fields: ["Content-Type": "text/plain"])
            }
        }
        let recording = try folder.recording(.record, network: network)
        let watcher = ExchangeWatcher()
        let exchange = recording.start(try request(path), receiver: watcher)
        await watcher.waitForHead()
        exchange.cancel()
        _ = try await recording.makeSession().data(for: request("/echo"))
        #expect(#expect(throws: StubError.self) { try recording.verify() }?.code == .secretFound)
        #expect(try !written().contains("s3cret"))
    }

    @Test func `a cookie of the session's storage is a secret, too`() async throws {
        let configuration = URLSessionConfiguration.ephemeral
        let cookie = try #require(
            HTTPCookie(properties: [.name: "id", .value: "s3cret-jar", .domain: "api.example", .path: "/"])
        )
        configuration.httpCookieStorage?.setCookie(cookie)
        let network = ScriptedTransport { request in
            .ok("sent: \(request.value(forHTTPHeaderField: "Cookie") ?? "")", fields: ["Content-Type": "text/plain"])
        }
        let recording = try folder.recording(network: network)
        let (text, _) = try await recording.makeSession(configuration).load("https://api.example/")
        #expect(text == "sent: id=s3cret-jar")
        #expect(#expect(throws: StubError.self) { try recording.verify() }?.code == .secretFound)
        #expect(!folder.exists)
    }

    @Test(
        arguments: [
            "consent=accepted-all", "consent=accepted-all; HttpOnly", "choice=accept-all-cookies", "theme=dark-mode",
            "lang=en-GB",
            "currency=EUR", "seen=true", "timezone=Europe/Berlin", "size=1920x1080", "last=2026-11-27T10:00:00Z",
        ]
    )
    func `a common value of a cookie does not keep an exchange from being recorded`(cookie: String) async throws {
        let pair = String(cookie.prefix { $0 != ";" })
        let value = String(pair.drop { $0 != "=" }.dropFirst())
        let fields = ["Content-Type": "text/plain", "Set-Cookie": cookie]
        let body = "your choice is \(value), as \(value) says"
        #expect(try await record([request("/a?v=\(value)", ["Cookie": pair])], [body], fields: fields) == nil)
        let entry = try HARArchive(contentsOf: folder.file).entries.first
        #expect(entry?.response.content.text == body)
        #expect(entry?.request.headers.first { $0.name == "Cookie" }?.value == Redaction.placeholder)
    }

    @Test(arguments: ["password", "secret", "token", "true", "user", "test"])
    func `a common word in place of a password does not keep an exchange from being recorded`(word: String) async throws
    {
        let sent = try request("/a", ["Content-Type": "application/json"], body: #"{"password":"\#(word)"}"#)
        #expect(try await record([sent], ["wrong \(word)"]) == nil)
    }

    @Test func `a short password is found as a word, and not within another one`() async throws {
        let sent = try request("/a", ["Content-Type": "application/json"], body: #"{"password":"s3cret"}"#)
        #expect(try await record([sent], ["not s3cret."])?.code == .secretFound)
        #expect(try await record([sent], ["thes3cretary"]) == nil)
    }
}

/// Gets the events of an exchange that no session starts.
final class ExchangeWatcher: TransportReceiver {
    private let heads = AsyncStream.makeStream(of: ResponseHead.self)
    private let ends = AsyncStream.makeStream(of: Void.self)

    func transportDidReceive(_ head: ResponseHead) { heads.continuation.yield(head) }
    func transportDidReceive(_ part: Data) {}
    func transportDidEnd(_ error: (any Error)?) { ends.continuation.yield() }

    func waitForHead() async {
        for await _ in heads.stream { return }
    }

    func waitForEnd() async {
        for await _ in ends.stream { return }
    }
}
