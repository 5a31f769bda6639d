import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("A direct client", .timeLimit(.minutes(10)))
struct DirectClientTests {
    private let shop = "https://shop.example/"

    private func interceptor(
        _ transport: any Transport,
        _ configure: (inout Interceptor.Configuration) throws -> Void = { _ in }
    ) throws -> Interceptor {
        try Interceptor {
            $0.rules = [.allow("https://*.example/**", via: .network)]
            $0.makeTransport = { _ in transport }
            try configure(&$0)
        }
    }

    private func client(_ script: @escaping ScriptedTransport.Script) throws -> (DirectClient, ScriptedTransport) {
        let transport = ScriptedTransport(script: script)
        return (try interceptor(transport).client(configuration: .ephemeral), transport)
    }

    private func url(_ text: String) throws -> URL { try #require(URL(string: text)) }

    private func message(_ path: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get) -> HTTPRequest {
        HTTPRequest(method: method, scheme: "https", authority: "shop.example", path: path, headerFields: fields)
    }

    /// Loads the shop's page, and delivers its head; the test delivers the rest.
    private func opened(
        _ client: DirectClient,
        _ transport: DrivenTransport,
        _ status: Int = 200,
        _ fields: [String: String] = [:],
        options: DirectClient.Options = DirectClient.Options()
    ) async throws -> (response: DirectClient.Response, receiver: any TransportReceiver) {
        async let loading = client.response(for: url(shop), options: options)
        let receiver = try await transport.receiver(1)
        receiver.transportDidReceive(try .head(status, fields, at: shop))
        return (try await loading, receiver)
    }

    // MARK: - The cache

    @Test("stores for sessions, and gets what they have stored, by each kind of request")
    func shared() async throws {
        let fixture = try CachingFixture { .ok("of \($0.target)", fields: ["Cache-Control": "max-age=60"]) }
        let client = fixture.interceptor.client(configuration: .ephemeral)
        let (first, head) = try await client.data(for: fixture.origin.url("/a"))
        #expect(String(decoding: first, as: UTF8.self) == "of /a")
        #expect(head.status == .ok)
        #expect(head.headerFields[.cacheStatus]?.contains("Waystation; fwd=uri-miss; fwd-status=200; stored") ?? false)
        await fixture.cache.flush()
        #expect(try await fixture.load("/a").isHit)
        #expect(try await !fixture.load("/b").isHit)
        await fixture.cache.flush()
        let port = fixture.origin.port
        let asked = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/b")
        for _ in 1...3 {
            let (body, head) = try await client.data(for: asked)
            #expect(String(decoding: body, as: UTF8.self) == "of /b")
            #expect(head.headerFields[.cacheStatus]?.contains("Waystation; hit") ?? false)
            let (again, response) = try await client.data(for: URLRequest(url: fixture.origin.url("/b")))
            #expect(again == body)
            #expect(response.value(forHTTPHeaderField: "Cache-Status")?.contains("Waystation; hit") ?? false)
        }
        #expect(fixture.asked == ["GET /a", "GET /b"])
    }

    @Test("decides about a repeated hit as about the first one", arguments: [true, false])
    func repeated(isResident: Bool) async throws {
        let loads = Counter()
        let fixture = try CachingFixture(residentLimit: .mebibytes(isResident ? 32 : 0)) { request in
            .ok("\(loads.next())", fields: ["Cache-Control": "max-age=60", "Vary": "Accept"])
        }
        let client = fixture.interceptor.client(configuration: .ephemeral)
        let url = fixture.origin.url("/")
        func load() async throws -> String { String(decoding: try await client.data(for: url).0, as: UTF8.self) }
        for _ in 1...3 { #expect(try await load() == "1") }
        // Another variant, under the same URL.
        var asked = HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(fixture.origin.port)", path: "/")
        asked.headerFields[.accept] = "text/html"
        #expect(String(decoding: try await client.data(for: asked).0, as: UTF8.self) == "2")
        #expect(try await load() == "1")
        // The other variant was stored, and not answered at once.
        #expect(client.repeated.count == 1)
        // Time passes, the response is invalidated, the interceptor is switched off.
        fixture.clock.advance(by: 61)
        #expect(try await load() == "3")
        for _ in 1...2 { #expect(try await load() == "3") }
        _ = try await fixture.load(method: "POST", body: Data("x".utf8))
        #expect(try await load() == "5")
        for _ in 1...2 { #expect(try await load() == "5") }
        fixture.interceptor.isEnabled = false
        #expect(try await load() == "6")
        fixture.interceptor.isEnabled = true
        #expect(try await load() == "5")
    }

    @Test("answers a hit on the actor of its caller, without a change of threads")
    @MainActor
    func actor() async throws {
        let folder = try TemporaryDirectory()
        let cache = try ResponseCache(directory: folder.url, environment: .patient)
        let clockReaders = Mutex<[Thread]>([])
        let interceptor = try interceptor(ScriptedTransport { _ in .ok(fields: ["Cache-Control": "max-age=60"]) }) {
            $0.rules = [.allow("https://shop.example/**", via: .cache(.standard))]
            $0.cache = cache
            $0.now = {
                clockReaders.withLock { $0.append(.current) }
                return Date()
            }
        }
        let client = interceptor.client(configuration: .ephemeral)
        let url = try url(shop)
        for _ in 1...3 { _ = try await client.data(for: url) }
        await cache.flush()
        for _ in 1...3 {
            clockReaders.withLock { $0 = [] }
            let own = Self.thread
            #expect(try await client.data(for: url).1.headerFields[.cacheStatus]?.contains("hit") ?? false)
            #expect(try await client.response(for: url).body.data() == Data())
            let readers = clockReaders.withLock { $0 }
            #expect(!readers.isEmpty)
            #expect(readers.allSatisfy { $0 === own })
        }
    }

    private static var thread: Thread { .current }

    @Test("remembers only so many requests, and no long ones")
    func remembered() async throws {
        let interceptor = try interceptor(ScriptedTransport { _ in .status(404) }) {
            $0.rules = [.allow("https://shop.example/**", via: .source(Greeting()))]
        }
        let client = interceptor.client(configuration: .ephemeral)
        for number in 0..<RepeatedLoads.limit + 10 {
            _ = try await client.data(for: url(shop + "a.txt?\(number)"))
        }
        #expect(client.repeated.count == RepeatedLoads.limit)
        let other = interceptor.client(configuration: .ephemeral)
        _ = try await other.data(for: url(shop + "a.txt?" + String(repeating: "a", count: RepeatedLoads.longest)))
        let long = [HTTPField(name: .userAgent, value: String(repeating: "a", count: RepeatedLoads.longest))]
        _ = try await other.data(for: message("/a.txt", HTTPFields(long)))
        #expect(other.repeated.count == 0)
        _ = try await other.data(for: message("/a.txt", [.userAgent: "a"]))
        #expect(other.repeated.count == 1)
    }

    @Test("asks a predicate of a rule each time")
    func predicate() async throws {
        let isOpen = Atomic(true)
        let isTaken: @Sendable (RuleRequest) -> Bool = { _ in isOpen.load(ordering: .relaxed) }
        let transport = ScriptedTransport { _ in .ok("network") }
        let interceptor = try interceptor(transport) {
            $0.rules = [.allow("https://shop.example/**", where: isTaken, via: .source(Greeting()))]
        }
        let client = interceptor.client(configuration: .ephemeral)
        let url = try url(shop + "a.txt")
        for _ in 1...5 { #expect(try await client.data(for: url).0 == Data("hello".utf8)) }
        #expect(client.repeated.count == 0)
        isOpen.store(false, ordering: .relaxed)
        #expect(try await client.data(for: url).0 == Data("network".utf8))
    }

    @Test("uses the strategy of the load in place of that of the rule")
    func strategy() async throws {
        let loads = Counter()
        let fixture = try CachingFixture(.cacheFirst(for: .seconds(60))) { _ in .ok("\(loads.next())") }
        let client = fixture.interceptor.client(configuration: .ephemeral)
        let url = fixture.origin.url("/")
        func load(_ change: (inout DirectClient.Options) -> Void = { _ in }) async throws -> String {
            var options = DirectClient.Options()
            change(&options)
            let body = try await client.data(for: url, options: options).0
            await fixture.cache.flush()
            return String(decoding: body, as: UTF8.self)
        }
        #expect(try await load { $0.strategy = .networkOnly } == "1")
        await #expect(throws: URLError.self) { try await load { $0.strategy = .cacheOnly } }
        #expect(try await load() == "2")
        #expect(try await load { $0.strategy = .cacheOnly } == "2")
        #expect(try await load { $0.strategy = .networkFirst() } == "3")
        #expect(try await load() == "3")
        #expect(try await load { $0.cachePolicy = .reloadIgnoringLocalCacheData } == "4")
        fixture.clock.advance(by: 61)
        #expect(try await load { $0.cachePolicy = .returnCacheDataElseLoad } == "4")
    }

    @Test("sends a request to the network while the interceptor is switched off, whatever its strategy is")
    func switchedOff() async throws {
        let fixture = try CachingFixture { .ok($0.path) }
        let client = fixture.interceptor.client(configuration: .ephemeral)
        fixture.interceptor.isEnabled = false
        var options = DirectClient.Options()
        options.strategy = .cacheOnly
        #expect(try await client.data(for: fixture.origin.url("/a"), options: options).0 == Data("/a".utf8))
    }

    // MARK: - Bodies of responses

    @Test("delivers parts as they arrive, and knows the source, the times and the bytes")
    func parts() async throws {
        let transport = DrivenTransport()
        let client = try interceptor(transport).client(configuration: .ephemeral)
        let (response, receiver) = try await opened(client, transport, 203, ["X-A": "b"])
        #expect(response.head.status.code == 203)
        #expect(response.url?.absoluteString == shop)
        #expect(response.metrics.duration == nil)
        var parts = response.body.makeAsyncIterator()
        for text in ["one", "two"] {
            receiver.transportDidReceive(Data(text.utf8))
            #expect(try await parts.next() == Data(text.utf8))
        }
        receiver.transportDidEnd(nil)
        #expect(try await parts.next() == nil)
        let metrics = response.metrics
        #expect(metrics.source == .network)
        #expect(metrics.receivedBytes == 6)
        #expect(metrics.timeToHead > .zero)
        #expect(try #require(metrics.duration) >= metrics.timeToHead)
    }

    @Test("delivers lines as they arrive, empty ones too")
    func lines() async throws {
        let transport = DrivenTransport()
        let client = try interceptor(transport).client(configuration: .ephemeral)
        let (response, receiver) = try await opened(client, transport)
        var lines = response.body.lines.makeAsyncIterator()
        receiver.transportDidReceive(Data("data: 1\r\n\r\nda".utf8))
        #expect(try await lines.next() == "data: 1")
        #expect(try await lines.next() == "")
        receiver.transportDidReceive(Data("ta: 2\n".utf8))
        #expect(try await lines.next() == "data: 2")
        receiver.transportDidReceive(Data("rest".utf8))
        receiver.transportDidEnd(nil)
        #expect(try await lines.next() == "rest")
        #expect(try await lines.next() == nil)
    }

    @Test("refuses a line without an end")
    func endlessLine() async throws {
        let (client, _) = try client { _ in
            .init([.head(200)] + Array(repeating: .part(Data(repeating: 0x61, count: 1 << 20)), count: 3))
        }
        let lines = try await client.response(for: url(shop)).body.lines
        await #expect { for try await _ in lines {} } throws: { ($0 as? URLError)?.code == .dataLengthExceedsMaximum }
    }

    @Test("slows the network down when the reader is slow, and stops it when the body is dropped")
    func pace() async throws {
        let transport = DrivenTransport()
        let client = try interceptor(transport).client(configuration: .ephemeral)
        do {
            let (response, receiver) = try await opened(client, transport)
            let part = Data(repeating: 7, count: 64 << 10)
            // The reader's buffer, and what may wait in the journey.
            for _ in 1...8 { receiver.transportDidReceive(part) }
            #expect(transport.calls == [.pause])
            var read = 0
            var parts = response.body.makeAsyncIterator()
            while read < 7 * part.count { read += try #require(try await parts.next()).count }
            #expect(await eventually { transport.calls.count >= 2 })
            #expect(transport.calls == [.pause, .resume])
        }
        #expect(await eventually { transport.calls.last == .cancel })
    }

    @Test("reads an answer from disk as fast as the reader takes it")
    func diskBody() async throws {
        let folder = try TemporaryDirectory()
        let whole = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        try whole.write(to: folder.url.appending(path: "a.bin"))
        let interceptor = try interceptor(ScriptedTransport { _ in .status(404) }) {
            $0.rules = [.allow("https://shop.example/**", via: .files(in: folder.url, at: shop))]
        }
        let client = interceptor.client(configuration: .ephemeral)
        let response = try await client.response(for: url(shop + "a.bin"))
        #expect(response.metrics.source == .files)
        var (body, count) = (Data(), 0)
        for try await part in response.body {
            body.append(part)
            count += 1
        }
        #expect(body == whole)
        #expect(count > 2)
        #expect(response.metrics.source == .files)
        #expect(try await client.data(for: url(shop + "a.bin")).0 == whole)
        #expect(try await client.response(for: url(shop + "a.bin")).body.data() == whole)
    }

    @Test("reads a whole body only up to a limit")
    func bodyLimit() async throws {
        let (client, _) = try client { _ in .ok("12345") }
        let response = try await client.response(for: url(shop))
        await #expect { try await response.body.data(upTo: .bytes(4)) } throws: {
            ($0 as? URLError)?.code == .dataLengthExceedsMaximum
        }
        #expect(try await client.response(for: url(shop)).body.data(upTo: .bytes(5)) == Data("12345".utf8))
    }

    @Test("lets one task at a time read a body")
    func secondReader() async throws {
        let transport = DrivenTransport()
        let client = try interceptor(transport).client(configuration: .ephemeral)
        let (response, receiver) = try await opened(client, transport)
        let body = response.body
        let first = Task {
            var parts = body.makeAsyncIterator()
            return try await parts.next()
        }
        let second = Task {
            var parts = body.makeAsyncIterator()
            return try await parts.next()
        }
        // One of them is refused at once, and the other one gets the part.
        let refused = await withTaskGroup(of: Result<Data?, any Error>.self) { group in
            for task in [first, second] { group.addTask { await task.result } }
            let early = await group.next()
            receiver.transportDidReceive(Data("a".utf8))
            let late = await group.next()
            return (early, late)
        }
        #expect(throws: URLError.self) { try refused.0?.get() }
        #expect(try refused.1?.get() == Data("a".utf8))
    }

    @Test("ends with the error of a response that breaks off", arguments: [true, false])
    func broken(isWhole: Bool) async throws {
        let (client, _) = try client { _ in
            .init([.head(200), .part(Data("a".utf8)), .error(URLError(.networkConnectionLost))])
        }
        let url = try url(shop)
        await #expect {
            if isWhole {
                _ = try await client.data(for: url)
            } else {
                _ = try await client.response(for: url).body.data()
            }
        } throws: { ($0 as? URLError)?.code == .networkConnectionLost }
    }

    // MARK: - The end

    @Test("stops the exchange when its task is cancelled, before the head and within the body", arguments: [0, 1, 2])
    func cancel(stage: Int) async throws {
        let transport = DrivenTransport()
        let client = try interceptor(transport).client(configuration: .ephemeral)
        let url = try url(shop)
        let task = Task {
            if stage == 0 { return try await client.data(for: url).0 }
            return try await client.response(for: url).body.data()
        }
        let receiver = try await transport.receiver(1)
        if stage == 2 {
            receiver.transportDidReceive(try .head(200, at: shop))
            receiver.transportDidReceive(Data("a".utf8))
        }
        task.cancel()
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
        #expect(await eventually { transport.calls.last == .cancel })
    }

    @Test("fails to read what was dropped, although the response had arrived", arguments: [true, false])
    func unreadBytes(byDeadline: Bool) async throws {
        let clock = ManualClock()
        let transport = DrivenTransport()
        let client = try interceptor(transport) { $0.schedule = clock.schedule }.client(configuration: .ephemeral)
        var options = DirectClient.Options()
        options.deadline = .hours(1)
        let (response, receiver) = try await opened(client, transport, options: options)
        receiver.transportDidReceive(Data("a".utf8))
        receiver.transportDidEnd(nil)
        #expect(await eventually { response.metrics.duration != nil })
        guard !byDeadline else {
            // The deadline of a response that has arrived does not matter.
            clock.fire()
            #expect(try await response.body.data() == Data("a".utf8))
            return
        }
        let reading = Task { [body = response.body] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await body.data()
        }
        await #expect { try await reading.value } throws: { ($0 as? URLError)?.code == .cancelled }
    }

    @Test("does not begin a load in a task that was cancelled before")
    func cancelledBefore() async throws {
        let (client, transport) = try client { _ in .unanswered }
        let url = try url(shop)
        let (signals, signal) = AsyncStream<Void>.makeStream()
        let task = Task {
            for await _ in signals {}
            return try await client.data(for: url).0
        }
        task.cancel()
        signal.finish()
        await #expect { try await task.value } throws: { ($0 as? URLError)?.code == .cancelled }
        #expect(transport.requests.isEmpty)
    }

    @Test("ends a load that takes longer than its deadline")
    func deadline() async throws {
        let clock = ManualClock()
        let transport = DrivenTransport()
        let client = try interceptor(transport) { $0.schedule = clock.schedule }.client(configuration: .ephemeral)
        var options = DirectClient.Options()
        options.deadline = .hours(1)
        let (response, receiver) = try await opened(client, transport, options: options)
        receiver.transportDidReceive(Data("a".utf8))
        clock.fire()
        await #expect { try await response.body.data() } throws: { ($0 as? URLError)?.code == .timedOut }
        #expect(await eventually { transport.calls.last == .cancel })
    }

    @Test("sends the time-out and the urgency of a load")
    func sentOptions() async throws {
        let (client, transport) = try client { _ in .ok() }
        var options = DirectClient.Options()
        options.timeout = .seconds(7_000)
        for (urgency, field) in [(3, "u=3"), (9, "u=7"), (-1, "u=0")] {
            options.urgency = urgency
            _ = try await client.data(for: url(shop), options: options)
            let sent = try #require(transport.requests.last)
            #expect(sent.timeoutInterval == 7_000)
            #expect(sent.value(forHTTPHeaderField: "Priority") == field)
        }
    }

    // MARK: - Redirects and refusals

    @Test("follows redirects by the rules, or returns them")
    func redirects() async throws {
        let transport = ScriptedTransport { request in
            request.url?.path == "/old" ? .redirect(to: "/new") : .ok("new")
        }
        let interceptor = try interceptor(transport) {
            $0.rules = [.block("https://shop.example/blocked"), .allow("https://*.example/**", via: .network)]
        }
        let client = interceptor.client(configuration: .ephemeral)
        let followed = try await client.response(for: url(shop + "old"))
        #expect(followed.url?.path == "/new")
        #expect(try await followed.body.data() == Data("new".utf8))
        var options = DirectClient.Options()
        options.followsRedirects = false
        let (_, head) = try await client.data(for: url(shop + "old"), options: options)
        #expect(head.status.code == 302)
        #expect(head.headerFields[.location] == "/new")
        await #expect { try await client.data(for: url(shop + "blocked")) } throws: {
            (($0 as? URLError)?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .blocked
        }
    }

    @Test(
        "answers a request for credentials from the configuration's storage, or delivers it",
        arguments: [true, false]
    )
    func credentials(areStored: Bool) async throws {
        let origin = try ScriptedOrigin { request in
            request.value(of: "Authorization") == nil
                ? .status(401, fields: ["WWW-Authenticate": "Basic realm=\"shop\""], body: Data("who?".utf8))
                : .ok("welcome")
        }
        let configuration = URLSessionConfiguration.ephemeral
        if areStored { configuration.urlCredentialStorage = OneCredential() }
        let interceptor = try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
        let client = interceptor.client(configuration: configuration)
        let expected = areStored ? (200, "welcome") : (401, "who?")
        let (body, head) = try await client.data(for: origin.url("/"))
        #expect((head.status.code, String(decoding: body, as: UTF8.self)) == expected)
        let response = try await client.response(for: origin.url("/"))
        let read = String(decoding: try await response.body.data(), as: UTF8.self)
        #expect((response.head.status.code, read) == expected)
    }

    @Test("delivers a refusal at once that no credentials can answer", arguments: [nil, "Bearer realm=\"a\""])
    func unanswerableRefusal(challenge: String?) async throws {
        let transport = DrivenTransport()
        let client = try interceptor(transport).client(configuration: .ephemeral)
        // The body has not begun.
        let fields = challenge.map { ["WWW-Authenticate": $0] } ?? [:]
        #expect(try await opened(client, transport, 401, fields).response.head.status.code == 401)
    }

    @Test("delivers a refusal that a file on disk answers with")
    func refusalOnDisk() async throws {
        let page = Data(repeating: 0x61, count: 100 << 10)
        let fields: KeyValuePairs = ["WWW-Authenticate": "Basic realm=\"a\"", "Cache-Control": "max-age=60"]
        let fixture = try CachingFixture(residentLimit: .mebibytes(0)) { _ in .status(401, fields: fields, body: page) }
        let client = fixture.interceptor.client(configuration: .ephemeral)
        for _ in 1...2 {
            let response = try await client.response(for: fixture.origin.url("/"))
            #expect(response.head.status.code == 401)
            #expect(try await response.body.data() == page)
            await fixture.cache.flush()
        }
        #expect(fixture.asked.count == 1)
    }

    @Test("delivers a refusal whose body has no end")
    func endlessRefusal() async throws {
        let transport = DrivenTransport()
        let client = try interceptor(transport).client(configuration: .ephemeral)
        async let loading = client.response(for: url(shop))
        let receiver = try await transport.receiver(1)
        receiver.transportDidReceive(try .head(401, ["WWW-Authenticate": "Basic realm=\"a\""], at: shop))
        let part = Data(repeating: 1, count: 64 << 10)
        for _ in 1...2 { receiver.transportDidReceive(part) }
        let response = try await loading
        #expect(response.head.status.code == 401)
        receiver.transportDidReceive(part)
        receiver.transportDidEnd(nil)
        #expect(try await response.body.data().count == 3 * part.count)
    }

    // MARK: - Cookies

    @Test("sends and stores the cookies of the configuration's storage, also after a hit")
    func foundationCookies() async throws {
        let fixture = try CachingFixture { request in
            let fields: KeyValuePairs = ["Cache-Control": "max-age=60", "Vary": "Cookie"]
            let setting: KeyValuePairs = ["Set-Cookie": "b=2"]
            return .ok(request.value(of: "Cookie") ?? "none", fields: request.path == "/set" ? setting : fields)
        }
        let configuration = URLSessionConfiguration.ephemeral
        let storage = try #require(configuration.httpCookieStorage)
        let client = fixture.interceptor.client(configuration: configuration)
        func load(_ path: String) async throws -> String {
            let body = try await client.data(for: fixture.origin.url(path)).0
            await fixture.cache.flush()
            return String(decoding: body, as: UTF8.self)
        }
        for _ in 1...3 { #expect(try await load("/") == "none") }
        #expect(fixture.asked.count == 1)
        #expect(client.repeated.count == 1)
        storage.setCookie(
            try #require(HTTPCookie(properties: [.name: "a", .value: "1", .domain: "127.0.0.1", .path: "/"]))
        )
        #expect(try await load("/") == "a=1")
        #expect(try await load("/set") == "a=1")
        #expect(try await load("/").contains("b=2"))
    }

    @Test("has the cookies of the interceptor's store, and keeps those that are set apart")
    func ownCookies() async throws {
        let transport = ScriptedTransport { _ in .ok(fields: ["Set-Cookie": "a=1; Path=/"]) }
        let interceptor = try interceptor(transport) { $0.cookies = CookieStore() }
        let client = interceptor.client(configuration: .ephemeral)
        for _ in 1...2 { _ = try await client.data(for: url(shop)) }
        #expect(transport.requests.map { $0.value(forHTTPHeaderField: "Cookie") } == [nil, "a=1"])
    }

    @Test("has the login of the interceptor's sessions, and no response of it after a log-out")
    func login() async throws {
        let fixture = try LoginFixture(via: .cache(.standard)) {
            .ok($0.value(of: "Cookie") ?? "none", fields: ["Cache-Control": "max-age=60"])
        }
        let client = fixture.interceptor.client(configuration: .ephemeral)
        func load(_ target: String) async throws -> String {
            let body = try await client.data(for: fixture.origin.url(target)).0
            await fixture.cache.flush()
            return String(decoding: body, as: UTF8.self)
        }
        for _ in 1...3 { #expect(try await load("/?needAuth=true") == "token=t1") }
        #expect(fixture.origin.requestCount == 1)
        await fixture.login.logOut()
        for _ in 1...3 { #expect(try await load("/?needAuth=true") == "token=t2") }
        #expect(fixture.origin.requestCount == 2)
    }

    // MARK: - Requests

    @Test("sends the method, the fields and the body of a message")
    func message() async throws {
        let (client, transport) = try client { _ in .ok() }
        var fields: HTTPFields = [.accept: "text/html"]
        fields.append(HTTPField(name: .cookie, value: "a=1"))
        fields.append(HTTPField(name: .cookie, value: "b=2"))
        fields.append(HTTPField(name: .acceptLanguage, value: "de"))
        fields.append(HTTPField(name: .acceptLanguage, value: "en"))
        _ = try await client.data(for: message("/p?q=1", fields, method: .put), body: .data(Data("body".utf8)))
        let sent = try #require(transport.requests.first)
        #expect(sent.url?.absoluteString == shop + "p?q=1")
        #expect(sent.httpMethod == "PUT")
        #expect(sent.httpBody == Data("body".utf8))
        #expect(sent.value(forHTTPHeaderField: "Accept") == "text/html")
        #expect(sent.value(forHTTPHeaderField: "Cookie") == "a=1; b=2")
        #expect(sent.value(forHTTPHeaderField: "Accept-Language") == "de, en")
    }

    @Test("refuses a message without a scheme or an authority")
    func badMessage() async throws {
        let (client, _) = try client { _ in .ok() }
        let bad = [
            HTTPRequest(method: .get, scheme: nil, authority: "shop.example", path: "/"),
            HTTPRequest(method: .get, scheme: "https", authority: nil, path: "/"),
            HTTPRequest(method: .get, scheme: "https", authority: "", path: "/"),
        ]
        for message in bad {
            await #expect { try await client.data(for: message) } throws: { ($0 as? URLError)?.code == .badURL }
        }
    }

    @Test("records its loads")
    func recorder() async throws {
        let recorder = MemoryRecorder()
        let interceptor = try interceptor(ScriptedTransport { _ in .ok("a") }) { $0.recorder = recorder }
        let client = interceptor.client(configuration: .ephemeral)
        _ = try await client.data(for: url(shop))
        #expect(recorder.exchanges.map(\.body) == [Data("a".utf8)])
    }

    @Test("gets the stubs of a rule, which count its loads")
    func stubs() async throws {
        let stubs = try Stubs { Stub(.get(shop + "a"), .ok("stub")).times(2) }
        let interceptor = try Interceptor { $0.rules = [.allow("https://shop.example/**", via: .stubs(stubs))] }
        let client = interceptor.client(configuration: .ephemeral)
        for _ in 1...2 { #expect(try await client.data(for: url(shop + "a")).0 == Data("stub".utf8)) }
        try stubs.verify()
    }
}

/// Answers every request at once.
struct Greeting: AnswerSource {
    let name = "greeting"

    func answer(to request: SourceRequest) -> SourceAnswer { .response(body: Data("hello".utf8)) }
}

/// A storage that has a credential for every server: Foundation's own finds none (trap L40).
///
/// `@unchecked Sendable` because the superclass is; nothing is added here.
private final class OneCredential: URLCredentialStorage, @unchecked Sendable {
    override func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
        URLCredential(user: "a", password: "b", persistence: .forSession)
    }
}

/// Keeps the exchanges that it is given.
private final class MemoryRecorder: ExchangeRecorder {
    private let kept = Mutex<[RecordedExchange]>([])

    var exchanges: [RecordedExchange] { kept.withLock { $0 } }

    var bodyLimit: Int { 1 << 20 }

    func exchangeDidEnd(_ exchange: RecordedExchange) { kept.withLock { $0.append(exchange) } }
}

extension HTTPField.Name {
    fileprivate static let cacheStatus = HTTPField.Name("Cache-Status") ?? .age
}
