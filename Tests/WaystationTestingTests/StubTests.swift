import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite(.timeLimit(.minutes(10)))
struct StubTests {
    @Test func `a stub answers the requests that its pattern takes`() async throws {
        let stubs = try Stubs {
            Stub(.get("https://api.example/weather"), .json(["celsius": 21]))
            Stub(.get("https://api.example/mixed"), .json(["place": "Bonn", "celsius": 21, "tags": [nil, 1.5, true]]))
            Stub(.get("https://api.example/users/*"), .template("user {path.1}, page {query.page}, {method}"))
            Stub(.any("https://cdn.example:*/**"), .ok("any"))
        }
        let session = try stubs.makeSession()
        let weather = try await session.load("https://api.example/weather")
        #expect(weather.text == #"{"celsius":21}"#)
        #expect(weather.response.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(weather.response.value(forHTTPHeaderField: "Content-Length") == "14")
        let mixed = try await session.load("https://api.example/mixed").text
        #expect(mixed == #"{"celsius":21,"place":"Bonn","tags":[null,1.5,true]}"#)
        #expect(try await session.load("https://api.example/users/ada?page=2").text == "user ada, page 2, GET")
        #expect(try await session.load("https://cdn.example:8443/a/b", method: "PURGE").text == "any")
        try stubs.verify()
    }

    @Test func `the first stub that takes a request and may still be asked answers it`() async throws {
        let stubs = try Stubs {
            Stub(.get("https://api.example/a"), .ok("once")).once()
            Stub(.get("https://api.example/*"), .ok("then"))
        }
        let session = try stubs.makeSession()
        #expect(try await session.load("https://api.example/a").text == "once")
        #expect(try await session.load("https://api.example/a").text == "then")
    }

    @Test func `answers follow one another, and the last one stays`() async throws {
        let stubs = try Stubs {
            Stub(.get("https://api.example/news"), .status(503), .failure(.networkConnectionLost), .ok("fine"))
        }
        let session = try stubs.makeSession()
        #expect(try await session.load("https://api.example/news").response.statusCode == 503)
        let lost = await session.failure("https://api.example/news")
        #expect(lost?.code == .networkConnectionLost)
        for _ in 0..<2 { #expect(try await session.load("https://api.example/news").text == "fine") }
        // The lost connection was reported, not retried.
        #expect(stubs.calls.count == 4)
    }

    @Test(arguments: [
        (RequestPattern.post("https://api.example/o").json("customer.id", 7), #"{"customer":{"id":7.0}}"#, true),
        (.post("https://api.example/o").json("customer.id", 8), #"{"customer":{"id":7}}"#, false),
        (.post("https://api.example/o").json("tags.1", "b"), #"{"tags":["a","b"]}"#, true),
        (.post("https://api.example/o").json("tags.2", "b"), #"{"tags":["a","b"]}"#, false),
        (.post("https://api.example/o").json("", ["b": 2, "a": 1]), #"{"a": 1, "b": 2}"#, true),
        (.post("https://api.example/o").json("a", 1), "no JSON", false),
        (.post("https://api.example/o").form("name", "Ada Byron"), "id=7&name=Ada+Byron", true),
        (.post("https://api.example/o").form("name", "Ada"), "id=7", false),
        (.post("https://api.example/o").form("name", "Ada"), #"{"name": "Ada"}"#, false),
        (.post("https://api.example/o").form("name", "Ada"), "name=Ada Byron", false),
        (.post("https://api.example/o").form("näme", "Zoë=%zz"), "id&n%C3%A4me=Zoë=%zz", true),
        (.post("https://api.example/o").form("id", ""), "id&&=x", true),
        (.post("https://api.example/o").body("abc"), "abc", true),
        (.post("https://api.example/o").body("abc"), "abd", false),
        (.post("https://api.example/o").field("X-Key", "1"), "", true),
        (.post("https://api.example/o").field("X-Key", "2"), "", false),
        (.post("https://api.example/o").query("q", "a b"), "", true),
        (.post("https://api.example/o").query("q", "a"), "", false),
        (.put("https://api.example/o"), "", false),
        (.method("POST", "https://api.example/o"), "", true),
        (.any("https://api.example/o").where(otherwise: "it is too short") { $0.body.count > 3 }, "abcd", true),
        (.any("https://api.example/o").where(otherwise: "it is too short") { $0.body.count > 3 }, "abc", false),
    ])
    func `a stub answers only if all of its conditions are met`(
        pattern: RequestPattern,
        body: String,
        isMet: Bool
    ) async throws {
        let stubs = try Stubs { Stub(pattern, .ok("answered")) }
        let session = try stubs.makeSession()
        var request = URLRequest(url: URL(string: "https://api.example/o?q=a%20b")!)
        request.httpMethod = "POST"
        request.setValue("1", forHTTPHeaderField: "x-key")
        request.httpBody = Data(body.utf8)
        let text = try? await session.data(for: request).0
        #expect((text.map { String(decoding: $0, as: UTF8.self) } == "answered") == isMet)
    }

    @Test func `a condition may ask its stubs`() async throws {
        let stubs = try Stubs {}
        try stubs.add(
            Stub(.get("https://api.example/a").where(otherwise: "it is not the second") { _ in stubs.calls.count == 2 })
        )
        let session = try stubs.makeSession()
        let failure = await session.failure("https://api.example/a")
        #expect(failure?.localizedDescription.contains("it is not the second") == true)
        try await session.expect("", from: "https://api.example/a")
        #expect(stubs.calls.count == 2)
    }

    @Test func `bodies of data tasks, streams and uploads are seen as they were sent`() async throws {
        let stubs = try Stubs { Stub(.post("https://api.example/up"), .status(201)) }
        let session = try stubs.makeSession()
        let url = try #require(URL(string: "https://api.example/up"))
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        let large = Data(repeating: 7, count: 3 << 20)
        try large.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }

        var withData = request
        withData.httpBody = Data("data".utf8)
        var withStream = request
        withStream.httpBodyStream = InputStream(data: Data("stream".utf8))
        for request in [withData, withStream] {
            let (_, response) = try await session.data(for: request)
            #expect((response as? HTTPURLResponse)?.statusCode == 201)
        }
        let (_, uploaded) = try await session.upload(for: request, from: Data("upload".utf8))
        #expect((uploaded as? HTTPURLResponse)?.statusCode == 201)
        let (_, fromFile) = try await session.upload(for: request, fromFile: file)
        #expect((fromFile as? HTTPURLResponse)?.statusCode == 201)
        #expect(stubs.calls.map(\.body) == ["data", "stream", "upload"].map { Data($0.utf8) } + [large])
        #expect(try stubs.calls(to: .post("https://api.example/up").body("upload")).count == 1)
    }

    @Test func `downloads get their file, by a call, by a completion handler and by a delegate`() async throws {
        let stubs = try Stubs {
            Stub(.get("https://api.example/file"), .parts([Data("by".utf8), Data("tes".utf8)]))
            Stub(.get("https://api.example/empty"), .status(404))
            Stub(.get("https://api.example/lost"), .failure(.networkConnectionLost))
        }
        let session = try stubs.makeSession()
        let url = try #require(URL(string: "https://api.example/file"))
        let (file, response) = try await session.download(from: url)
        #expect(try contents(of: file) == "bytes")
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
        let (empty, missing) = try await session.download(from: try #require(URL(string: "https://api.example/empty")))
        #expect(try contents(of: empty) == "")
        #expect((missing as? HTTPURLResponse)?.statusCode == 404)
        let lost = try #require(URL(string: "https://api.example/lost"))
        let error = await #expect(throws: URLError.self) { try await session.download(from: lost) }
        #expect(error?.code == .networkConnectionLost)

        let handled: Result<String, any Error> = await withCheckedContinuation { continuation in
            session.downloadTask(with: url) { file, _, error in
                continuation.resume(returning: Result { try self.contents(of: try #require(file)) })
            }.resume()
        }
        #expect(try handled.get() == "bytes")

        let collector = DownloadCollector()
        let own = URLSession(
            configuration: .ephemeral.intercepted(by: try stubs.makeInterceptor()),
            delegate: collector,
            delegateQueue: nil
        )
        #expect(await collector.run(own.downloadTask(with: url)) == nil)
        own.finishTasksAndInvalidate()
        #expect(collector.text == "bytes")
        #expect(collector.told.last?.total == 5)
        #expect(stubs.calls.count == 5)
    }

    private func contents(of file: URL) throws -> String {
        defer { try? FileManager.default.removeItem(at: file) }
        return String(decoding: try Data(contentsOf: file), as: UTF8.self)
    }

    @Test func `redirects meet the stubs too`() async throws {
        let stubs = try Stubs {
            Stub(.get("https://api.example/old"), .redirect(to: "/new"))
            Stub(.get("https://api.example/new"), .ok("new"))
        }
        let (text, response) = try await stubs.makeSession().load("https://api.example/old")
        #expect(text == "new")
        #expect(response.url?.path == "/new")
    }

    @Test func `parts, files and truncated bodies arrive`() async throws {
        let file = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).css")
        try Data("b{}".utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let stubs = try Stubs {
            Stub(.get("https://a.example/parts"), .parts([Data("one ".utf8), Data("two".utf8)]))
            Stub(.get("https://a.example/file"), .file(file))
            Stub(.get("https://a.example/cut"), .truncated(Data("whole".utf8), after: 2))
            Stub(.head("https://a.example/file"), .ok("not sent"))
        }
        let session = try stubs.makeSession()
        #expect(try await session.load("https://a.example/parts").text == "one two")
        let css = try await session.load("https://a.example/file")
        #expect(css.text == "b{}")
        #expect(css.response.value(forHTTPHeaderField: "Content-Type")?.hasPrefix("text/css") ?? false)
        #expect(await session.failure("https://a.example/cut")?.code == .networkConnectionLost)
        let head = try await session.load("https://a.example/file", method: "HEAD")
        #expect(head.text == "")
        #expect(head.response.value(forHTTPHeaderField: "Content-Length") == "8")
    }

    @Test func `delays pass at once, and count against the time-out`() async throws {
        let stubs = try Stubs {
            Stub(.get("https://a.example/slow"), .ok("slow").delayed(by: .seconds(3_000)))
            Stub(.get("https://a.example/silent"), .unanswered)
        }
        let session = try stubs.makeSession()
        var request = URLRequest(url: try #require(URL(string: "https://a.example/slow")))
        request.timeoutInterval = 3_001
        #expect(try await session.data(for: request).0 == Data("slow".utf8))
        request.timeoutInterval = .infinity
        #expect(try await session.data(for: request).0 == Data("slow".utf8))
        request.timeoutInterval = 3_000
        let late = await #expect(throws: URLError.self) { try await session.data(for: request) }
        #expect(late?.code == .timedOut)
        #expect(await session.failure("https://a.example/silent")?.code == .timedOut)
    }

    @Test func `an answer that is held arrives when its gate opens`() async throws {
        let gate = ScriptedTransport.Gate()
        let stubs = try Stubs { Stub(.get("https://a.example/held"), .ok("held").held(at: gate)) }
        let session = try stubs.makeSession()
        async let load = session.load("https://a.example/held")
        gate.open()
        #expect(try await load.text == "held")
    }

    @Test func `a rule answers by a stub of its own`() async throws {
        let stubs = try Stubs { Stub(.get("https://b.example/**"), .ok("stubs")) }
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("https://a.example/**", via: .stub { .ok("\($0.pathSegments)") }),
                .allow("https://b.example/**", via: .stubs(stubs)),
                .block("*://*:*/**"),
            ]
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        #expect(try await session.load("https://a.example/x/y%20z").text == #"["x", "y z"]"#)
        #expect(try await session.load("https://b.example/").text == "stubs")
        #expect(stubs.calls.map(\.description) == ["GET https://b.example/"])
    }

    @Test func `tests that run at the same time each get their own answers`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let stubs = try Stubs { Stub(.get("https://api.example/same"), .ok("\(number)")) }
                    let session = try stubs.makeSession()
                    for _ in 0..<20 {
                        let text = try await session.load("https://api.example/same").text
                        #expect(text == "\(number)")
                    }
                    #expect(stubs.calls.count == 20)
                }
            }
            try await group.waitForAll()
        }
    }
}

extension URLSession {
    func load(_ url: String, method: String = "GET") async throws -> (text: String, response: HTTPURLResponse) {
        var request = URLRequest(url: try #require(URL(string: url)))
        request.httpMethod = method
        let (data, response) = try await data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    /// Loads a URL, and expects this text.
    func expect(_ text: String, from url: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let loaded = try await load(url).text
        #expect(loaded == text, sourceLocation: sourceLocation)
    }

    func failure(_ url: String, method: String = "GET") async -> URLError? {
        do {
            _ = try await load(url, method: method)
            return nil
        } catch { return error as? URLError }
    }
}
