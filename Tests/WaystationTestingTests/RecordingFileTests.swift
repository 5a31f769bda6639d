import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationRecording
import WaystationTesting

/// What a recording keeps, replaces and replays.
@Suite(.timeLimit(.minutes(3)))
struct RecordingFileTests {
    private let folder = RecordingFolder()
    private let url = "https://api.example/a"

    private func record(_ body: String, _ recording: Recording) async throws {
        #expect(try await recording.makeSession().load(url).text == body)
    }

    private var recorded: [String] {
        get throws {
            try HARArchive(contentsOf: folder.file).entries.map { entry in
                String(decoding: try entry.response.body(in: folder.url), as: UTF8.self)
            }
        }
    }

    @Test func `a run that failed does not replace the file of an earlier one`() async throws {
        let first = try folder.recording(network: ScriptedTransport { _ in .ok("good") })
        try await record("good", first)
        try first.verify()
        let network = ScriptedTransport { $0.url?.path == "/a" ? .ok("new") : .failed(.timedOut) }
        let second = try folder.recording(.record, network: network)
        try await record("new", second)
        #expect(await (try second.makeSession()).failure("https://api.example/b")?.code == .timedOut)
        for attempt in [second.save, second.verify] {
            let error = #expect(throws: StubError.self) { try attempt() }
            #expect(error?.code == .cannotRecord)
            #expect(
                error?.message.hasSuffix(
                    "orders.har keeps its previous entries, because the run that should replace them failed"
                ) == true
            )
            #expect(try recorded == ["good"])
        }
    }

    @Test func `a recording that is released without a call, as by a test that throws, replaces no file`() async throws
    {
        for (body, expected) in [("first", "first"), ("second", "first")] {
            weak var released: ScriptedTransport?
            do {
                let network = ScriptedTransport { _ in .ok(body) }
                released = network
                let recording = try folder.recording(.record, network: network)
                let watcher = ExchangeWatcher()
                let exchange = recording.start(URLRequest(url: try #require(URL(string: url))), receiver: watcher)
                await watcher.waitForEnd()
                withExtendedLifetime(exchange) {}
            }
            // The recording keeps its network until it has written its file.
            while released != nil { await Task.yield() }
            #expect(try recorded == [expected])
        }
    }

    @Test func `a test that failed does not replace the file of an earlier run`() async throws {
        let first = try folder.recording(network: ScriptedTransport { _ in .ok("good") })
        #expect(first.keepPredecessor() == nil)
        try await record("good", first)
        try first.verify()
        let second = try folder.recording(.record, network: ScriptedTransport { _ in .ok("new") })
        try await record("new", second)
        #expect(second.keepPredecessor()?.hasPrefix("orders.har keeps its previous entries") == true)
        try second.verify()
        #expect(try recorded == ["good"])
    }

    @Test func `of two recordings of one file, the second does not replace the entries of the first`() async throws {
        let recordings = try ["one", "two"].map { body in
            try folder.recording(.record, network: ScriptedTransport { _ in .ok(body) })
        }
        for (body, recording) in zip(["one", "two"], recordings) { try await record(body, recording) }
        try recordings[0].verify()
        let error = #expect(throws: StubError.self) { try recordings[1].verify() }
        #expect(error?.code == .unwritableRecording)
        #expect(error?.message.contains("was changed by another recording") == true)
        #expect(try recorded == ["one"])
        // One after the other, they replace each other.
        let third = try folder.recording(.record, network: ScriptedTransport { _ in .ok("three") })
        try await record("three", third)
        try third.verify()
        #expect(try recorded == ["three"])
    }

    @Test(
        arguments: [
            (#"{"status":0,"_error":"net::ERR_CONNECTION_REFUSED"}"#, URLError.Code.cannotConnectToHost),
            (#"{"status":0,"_error":"net::ERR_NAME_NOT_RESOLVED","headers":[],"content":{"size":0}}"#, .cannotFindHost),
            (#"{"status":-1,"_failureText":"net::ERR_INTERNET_DISCONNECTED"}"#, .notConnectedToInternet),
            (#"{"status":-1,"statusText":"","content":{"size":0,"text":""}}"#, .networkConnectionLost),
            (#"{"status":0},"comment":"failed: URLError -1001""#, .timedOut),
        ]
    )
    func `an entry without a response replays as the error that it was`(
        response: String,
        code: URLError.Code
    ) async throws {
        let har = """
            {"log":{"version":"1.2","creator":{"name":"Browser","version":"1"},"entries":[{"startedDateTime":"2024-01-01T00:00:00Z",
              "time":1,"request":{"method":"GET","url":"\(url)"},"response":\(response)}]}}
            """
        try Data(har.utf8).write(to: folder.file)
        let recording = try folder.recording(network: .unreachable)
        let failure = await (try recording.makeSession()).failure(url)
        #expect(failure?.code == code)
        #expect(failure?.localizedDescription.contains("had failed when it was recorded") == true)
        try recording.verify()
    }

    @Test func `a response is as old for a cache as it was when it was recorded`() async throws {
        let start = Date(timeIntervalSince1970: 1_700_000_000)
        let network = ScriptedTransport { _ in
            .ok("fresh", fields: ["Date": "Tue, 14 Nov 2023 22:13:20 GMT", "Cache-Control": "max-age=60"])
        }
        let first = try folder.recording(network: network, now: start)
        try await record("fresh", first)
        try first.verify()
        let storage = folder.url.appending(path: "cache")
        let second = try folder.recording(network: .unreachable, now: .now)
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://api.example/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: storage)
            $0.makeTransport = { _ in second }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        for _ in 0..<2 { #expect(try await session.load(url).text == "fresh") }
        try second.verify()
        // Without a cache the times move with the age of the recording as well, and nothing else does.
        let day = start.addingTimeInterval(86_400)
        let (_, response) = try await folder.recording(network: .unreachable, now: day).makeSession().load(url)
        #expect(response.value(forHTTPHeaderField: "Date") == "Wed, 15 Nov 2023 22:13:20 GMT")
    }

    @Test(
        arguments: [
            (#"{"id":9007199254740993}"#, #"{"id":9007199254740992}"#, false),
            (#"{"id":12345678901234567890123}"#, #"{"id":12345678901234567890124}"#, false),
            (#"{"n":0.1}"#, #"{"n":0.10000000000000000001}"#, false),
            (#"{"n":1}"#, #"{ "n" : 1.0 }"#, true), (#"{"n":100}"#, #"{"n":1e2}"#, true),
            (#"{"n":-0}"#, #"{"n":0}"#, true),
            (#"{"n":1}"#, #"{"n":"1"}"#, false), (#"{"a":1,"b":[2]}"#, #"{"b":[2],"a":1}"#, true),
            (#"{"a":[1,2]}"#, #"{"a":[2,1]}"#, false), (#"{"t":"\u00fc/"}"#, #"{"t":"ü\/"}"#, true),
            ("{\"t\":\"u\u{308}\"}", "{\"t\":\"\u{FC}\"}", false), ("{\"u\u{308}\":1}", "{\"\u{FC}\":1}", false),
            ("u\u{308}", "\u{FC}", false), ("{\"a\":1", "{\"a\":1 ", false),
            (#"{"t":"\ud83d\ude00"}"#, #"{"t":"😀"}"#, true),
            (#"{"t":null}"#, #"{"t":false}"#, false), ("{}", "[]", false), (#"{"t":"a\\n"}"#, #"{"t":"a\n"}"#, false),
        ]
    )
    func `bodies are equal if their JSON has the same numbers and texts, to the last digit and code point`(
        first: String,
        second: String,
        isEqual: Bool
    ) async throws {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = "POST"
        request.setValue("application/json", forHTTPHeaderField: "Content-Type")
        request.httpBody = Data(first.utf8)
        let parts: [RecordedPart] = [.method, .url, .body]
        let recording = try folder.recording(matching: parts, network: ScriptedTransport { _ in .ok("found") })
        _ = try await recording.makeSession().data(for: request)
        try recording.verify()
        request.httpBody = Data(second.utf8)
        let replayed = try folder.recording(matching: parts, network: .unreachable).makeSession()
        let found = try? await replayed.data(for: request).0
        #expect((found == Data("found".utf8)) == isEqual)
    }

    @Test func `a field is compared by its code points`() async throws {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.setValue("u\u{308}", forHTTPHeaderField: "X-Name")
        let parts: [RecordedPart] = [.field("X-Name")]
        let recording = try folder.recording(matching: parts, network: ScriptedTransport { _ in .ok("found") })
        _ = try await recording.makeSession().data(for: request)
        try recording.verify()
        request.setValue("\u{FC}", forHTTPHeaderField: "X-Name")
        let replayed = try folder.recording(matching: parts, network: .unreachable).makeSession()
        await #expect(throws: URLError.self) { try await replayed.data(for: request) }
    }
}
