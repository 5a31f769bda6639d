import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("Loads that are forwarded to the network")
struct ForwardingTests {
    /// How a request reaches the network: on the app's own task, or through the transport with its response stored.
    enum Way: CaseIterable { case handedBack, transported }

    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
    }

    private func session(
        _ way: Way,
        _ origin: ScriptedOrigin,
        delegate: RecordingDelegate? = nil,
        configuration: URLSessionConfiguration = .ephemeral
    ) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: way == .handedBack ? .network : .cache(.networkFirst()))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
        }
        return URLSession(
            configuration: configuration.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    @Test("a body arrives whole, in one piece for a caller and in order for a delegate", arguments: Way.allCases)
    func wholeBody(way: Way) async throws {
        let body = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0) })
        let origin = try ScriptedOrigin { _ in .stream([.bytes(body.prefix(70_000)), .bytes(body.dropFirst(70_000))]) }
        #expect(try await session(way, origin).data(from: origin.url("/a")).0 == body)
        let delegate = RecordingDelegate()
        try session(way, origin, delegate: delegate).dataTask(with: origin.url("/a")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .data(200_000), .completed(nil)])
        #expect(delegate.body == body)
    }

    @Test("a 401 whose challenge is not answered completes, with its body", arguments: Way.allCases, [false, true])
    func unansweredChallenge(way: Way, hasDelegate: Bool) async throws {
        let origin = try ScriptedOrigin { _ in
            .status(401, fields: ["WWW-Authenticate": "Basic realm=\"here\""], body: Data("no".utf8))
        }
        guard hasDelegate else {
            let (data, response) = try await session(way, origin).data(from: origin.url("/secret"))
            #expect((response as? HTTPURLResponse)?.statusCode == 401)
            #expect(response.url == origin.url("/secret"))
            #expect(String(decoding: data, as: UTF8.self) == "no")
            return
        }
        let delegate = RecordingDelegate()
        try session(way, origin, delegate: delegate).dataTask(with: origin.url("/secret")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(401), .data(2), .challenge(failures: 0), .completed(nil)])
    }

    /// Foundation looks for Basic after every comma, also inside quotes.
    @Test(
        "a 401 completes when only Foundation finds a Basic challenge in it",
        .timeLimit(.minutes(5)),
        arguments: Way.allCases,
        ["Digest realm=\"x, Basic realm=y\", nonce=\"n\"", "Digest realm=\"x, Basic realm=y"]
    )
    func challengeOfFoundation(way: Way, field: String) async throws {
        let origin = try ScriptedOrigin { _ in
            .status(401, fields: ["WWW-Authenticate": field], body: Data("no".utf8))
        }
        let (data, response) = try await session(way, origin).data(from: origin.url("/secret"))
        #expect((response as? HTTPURLResponse)?.statusCode == 401)
        #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "WWW-Authenticate") == field)
        #expect(data == Data("no".utf8))
        let delegate = RecordingDelegate()
        try session(way, origin, delegate: delegate).dataTask(with: origin.url("/secret")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(401), .data(2), .completed(nil)])
    }

    @Test("a 401 that the delegate answers is sent again with its credential", arguments: Way.allCases)
    func answeredChallenge(way: Way) async throws {
        let origin = try ScriptedOrigin { request in
            request.value(of: "Authorization") == "Basic dTpw"
                ? .ok("yes") : .status(401, fields: ["WWW-Authenticate": "Basic realm=\"here\""], body: Data("no".utf8))
        }
        let delegate = RecordingDelegate(credential: { _ in
            (.useCredential, URLCredential(user: "u", password: "p", persistence: .none))
        })
        let session = try session(way, origin, delegate: delegate)
        session.dataTask(with: origin.url("/secret")).resume()
        await delegate.completion()
        #expect(
            delegate.calls == [
                .response(401), .data(2), .challenge(failures: 0), .response(200), .data(3), .completed(nil),
            ]
        )
        let url = origin.url("/secret")
        let body = await withCheckedContinuation { continuation in
            session.dataTask(with: url) { data, _, _ in continuation.resume(returning: data) }.resume()
        }
        #expect(body == Data("yes".utf8))
    }

    @Test("a delegate that cancels a challenge ends the task as cancelled", arguments: Way.allCases)
    func cancelledChallenge(way: Way) async throws {
        let origin = try ScriptedOrigin { _ in .status(401, fields: ["WWW-Authenticate": "Basic realm=\"here\""]) }
        let delegate = RecordingDelegate(credential: { _ in (.cancelAuthenticationChallenge, nil) })
        try session(way, origin, delegate: delegate).dataTask(with: origin.url("/secret")).resume()
        await delegate.completion()
        #expect(delegate.calls.last == .completed(.cancelled))
        let error = await #expect(throws: URLError.self) {
            try await session(way, origin, delegate: delegate).data(from: origin.url("/secret"))
        }
        #expect(
            error?.localizedDescription
                == "the delegate cancelled the challenge of the server 127.0.0.1 for credentials"
        )
        #expect(error?.userInfo["NSErrorFailingURLStringKey"] as? String == origin.url("/secret").absoluteString)
    }

    @Test("redirects are followed, and the delegate is asked", arguments: Way.allCases)
    func redirects(way: Way) async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/a": .redirect(302, to: "/b")
            case "/b": .redirect(307, to: "/c")
            default: .ok("there")
            }
        }
        let delegate = RecordingDelegate()
        try session(way, origin, delegate: delegate).dataTask(with: origin.url("/a")).resume()
        await delegate.completion()
        #expect(
            delegate.calls == [.redirect(to: "/b"), .redirect(to: "/c"), .response(200), .data(5), .completed(nil)]
        )
        let (_, response) = try await session(way, origin).data(from: origin.url("/a"))
        #expect(response.url == origin.url("/c"))
    }

    @Test("a redirect that the delegate refuses is the response that the app gets", arguments: Way.allCases)
    func refusedRedirect(way: Way) async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/a"
                ? .status(302, fields: ["Location": "/b"], body: Data("moved".utf8)) : .ok("there")
        }
        let delegate = RecordingDelegate(follow: { _ in nil })
        try session(way, origin, delegate: delegate).dataTask(with: origin.url("/a")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.redirect(to: "/b"), .response(302), .data(5), .completed(nil)])
        #expect(origin.requests.map(\.path) == ["/a"])
    }

    @Test("credentials are not sent when a redirect leaves the origin")
    func credentialsStayBehind() async throws {
        let other = try ScriptedOrigin { _ in .ok("other") }
        let target = other.url("/there").absoluteString
        let origin = try ScriptedOrigin { _ in .redirect(302, to: target) }
        for way in Way.allCases {
            var request = URLRequest(url: origin.url("/a"))
            request.setValue("Bearer secret", forHTTPHeaderField: "Authorization")
            request.setValue("token=secret", forHTTPHeaderField: "Cookie")
            #expect(try await session(way, origin).data(for: request).0 == Data("other".utf8))
        }
        #expect(origin.requests.count == 2)
        #expect(origin.requests.allSatisfy { $0.value(of: "Authorization") == "Bearer secret" })
        #expect(other.requests.count == 2)
        #expect(other.requests.allSatisfy { $0.value(of: "Authorization") == nil && $0.value(of: "Cookie") == nil })
    }

    @Test("a POST keeps its body on 307 and 308")
    func bodyIsKept() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/a"
                ? .redirect(307, to: "/b") : request.path == "/b" ? .redirect(308, to: "/c") : .ok(request.body)
        }
        var request = URLRequest(url: origin.url("/a"))
        request.httpMethod = "POST"
        request.httpBody = Data("precious".utf8)
        #expect(try await session(.handedBack, origin).data(for: request).0 == Data("precious".utf8))
        #expect(origin.requests.map(\.method) == ["POST", "POST", "POST"])
    }

    @Test("more than 20 redirects are too many", arguments: Way.allCases)
    func redirectLoop(way: Way) async throws {
        let origin = try ScriptedOrigin { _ in .redirect(302, to: "/again") }
        let error = await #expect(throws: URLError.self) {
            try await session(way, origin).data(from: origin.url("/again"))
        }
        #expect(error?.code == .httpTooManyRedirects)
        #expect(origin.requestCount == 21)
        guard way == .transported else { return }
        #expect(
            error?.localizedDescription
                == "the load was redirected more than 20 times, the last time by 127.0.0.1: the server's redirects may form a circle"
        )
        #expect(error?.failingURL == origin.url("/again"))
        #expect(error?.userInfo["NSErrorFailingURLStringKey"] as? String == origin.url("/again").absoluteString)
    }

    @Test(
        "a redirect to a URL that cannot be loaded fails, and the error names only its scheme",
        arguments: ["ftp://user:secret@h/x?token=1", "file:///etc/passwd", "mailto:secret@b", "http:///secret"]
    )
    func unsupportedRedirect(target: String) async throws {
        let origin = try ScriptedOrigin { _ in .redirect(302, to: target) }
        let failure = await #expect(throws: URLError.self) {
            try await session(.transported, origin).data(from: origin.url("/a"))
        }
        let error = try #require(failure)
        #expect(error.code == .unsupportedURL)
        #expect(error.localizedDescription.hasPrefix("the server redirects to a URL with"))
        #expect(!error.localizedDescription.contains("secret") && !error.localizedDescription.contains("token"))
        #expect(error.failingURL == origin.url("/a"))
    }

    @Test("errors have Foundation's own codes", arguments: Way.allCases)
    func errorCodes(way: Way) async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/closed": .closed
            case "/half": .truncated(Data(repeating: 1, count: 1000), after: 400)
            default: .unanswered
            }
        }
        for (path, code) in [("/closed", URLError.networkConnectionLost), ("/half", .networkConnectionLost)] {
            let plain = await #expect(throws: URLError.self) {
                try await URLSession(configuration: .ephemeral).data(from: origin.url(path))
            }
            let ours = await #expect(throws: URLError.self) {
                try await session(way, origin).data(from: origin.url(path))
            }
            #expect(ours?.code == plain?.code, "\(path), expected about \(code)")
        }
        var request = URLRequest(url: origin.url("/never"))
        request.timeoutInterval = 1
        let late = await #expect(throws: URLError.self) { try await session(way, origin).data(for: request) }
        #expect(late?.code == .timedOut)
    }

    @Test("uploads keep their body, downloads get their file", arguments: Way.allCases)
    func uploadAndDownload(way: Way) async throws {
        let origin = try ScriptedOrigin { .ok($0.body.isEmpty ? Data("file".utf8) : $0.body) }
        let session = try session(way, origin)
        var request = URLRequest(url: origin.url("/up"))
        request.httpMethod = "POST"
        #expect(try await session.upload(for: request, from: Data("an upload".utf8)).0 == Data("an upload".utf8))
        let (file, _) = try await session.download(from: origin.url("/down"))
        #expect(try Data(contentsOf: file) == Data("file".utf8))
    }

    @Test("cancelling a load cancels the traffic behind it", arguments: Way.allCases)
    func cancelledTraffic(way: Way) async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("first".utf8)), .wait(gate)]) }
        let delegate = RecordingDelegate(received: { $0.cancel() })
        try session(way, origin, delegate: delegate).dataTask(with: origin.url("/slow")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .data(5), .completed(.cancelled)])
        #expect(await origin.waitForAbandonedRequests(1).map(\.path) == ["/slow"])
    }

    @Test("a task that is suspended and resumed at once ends without an error", arguments: Way.allCases)
    func suspendedAtOnce(way: Way) async throws {
        let origin = try ScriptedOrigin { _ in .ok("whole") }
        for _ in 0..<20 {
            let delegate = RecordingDelegate()
            let task = try session(way, origin, delegate: delegate).dataTask(with: origin.url("/a"))
            task.resume()
            task.suspend()
            task.resume()
            await delegate.completion()
            // Foundation's own loader starts again after a suspension, and may repeat its calls.
            #expect(delegate.calls.last == .completed(nil))
            if way == .transported { #expect(delegate.calls == [.response(200), .data(5), .completed(nil)]) }
        }
    }

    @Test("bytes that arrive while a task is suspended are delivered once, after it is resumed")
    func suspendedInTheMiddle() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data("first".utf8)), .wait(gate), .bytes(Data("rest".utf8))])
        }
        let delegate = RecordingDelegate(received: { task in
            guard task.countOfBytesReceived == 0, task.state == .running else { return }
            task.suspend()
            gate.open()
            task.resume()
        })
        try session(.transported, origin, delegate: delegate).dataTask(with: origin.url("/a")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .data(9), .completed(nil)])
        #expect(delegate.body == Data("firstrest".utf8))
        #expect(origin.requestCount == 1)
    }

    @Test("credentials that the configuration adds are sent to their own origin only")
    func additionalCredentialsStayBehind() async throws {
        let other = try ScriptedOrigin { _ in .ok("other") }
        let target = other.url("/there").absoluteString
        let origin = try ScriptedOrigin { _ in .redirect(302, to: target) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["Authorization": "Bearer secret", "X-App": "shop", "X-Build": 42]
        for way in Way.allCases {
            _ = try await session(way, origin, configuration: configuration).data(from: origin.url("/a"))
        }
        #expect(origin.requests.map { $0.value(of: "Authorization") } == ["Bearer secret", "Bearer secret"])
        #expect(other.requests.map { $0.value(of: "Authorization") } == [nil, nil])
        #expect(other.requests.map { $0.value(of: "X-App") } == ["shop", "shop"])
        // The value is no String, which ends a process that uses Foundation alone.
        #expect(other.requests.map { $0.value(of: "X-Build") } == ["42", "42"])
    }

    @Test("fields that the configuration adds have the app's spelling of their names", arguments: Way.allCases)
    func spelling(way: Way) async throws {
        let origin = try ScriptedOrigin { _ in .ok("x") }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = ["header3": "a", "x-MixedCase": "b", "ETAG": "c"]
        let loads = [
            URLSession(configuration: configuration), try session(way, origin, configuration: configuration),
        ]
        for session in loads {
            var request = URLRequest(url: origin.url("/a"))
            request.setValue("own", forHTTPHeaderField: "X-Mixedcase")
            _ = try await session.data(for: request)
            _ = try await session.data(from: origin.url("/b"))
        }
        let names = origin.requests.map { request in
            request.fields.map(\.name).filter { ["header3", "x-mixedcase", "etag"].contains($0.lowercased()) }.sorted()
        }
        #expect(names.count == 4)
        #expect(Array(names.suffix(2)) == Array(names.prefix(2)))
        #expect(names.last == ["ETAG", "header3", "x-MixedCase"])
        #expect(origin.requests.last?.value(of: "x-mixedcase") == "b")
        #expect(origin.requests.map { $0.values(of: "x-mixedcase") } == [["own"], ["b"], ["own"], ["b"]])
    }

    @Test("a wrong credential leads to another challenge, with the count of failures", arguments: Way.allCases)
    func wrongCredential(way: Way) async throws {
        let origin = try ScriptedOrigin { _ in .status(401, fields: ["WWW-Authenticate": "Basic realm=\"here\""]) }
        let delegate = RecordingDelegate(credential: { challenge in
            challenge.previousFailureCount < 2
                ? (.useCredential, URLCredential(user: "u", password: "wrong", persistence: .none))
                : (.performDefaultHandling, nil)
        })
        try session(way, origin, delegate: delegate).dataTask(with: origin.url("/secret")).resume()
        await delegate.completion()
        let challenges = delegate.calls.filter { if case .challenge = $0 { true } else { false } }
        #expect(challenges == [.challenge(failures: 0), .challenge(failures: 1), .challenge(failures: 2)])
        #expect(delegate.calls.last == .completed(nil))
        #expect(origin.requestCount == 3)
    }

    @Test("a redirect without a Location is the response", arguments: Way.allCases)
    func redirectWithoutLocation(way: Way) async throws {
        let origin = try ScriptedOrigin { _ in .status(302) }
        let (_, response) = try await session(way, origin).data(from: origin.url("/a"))
        #expect((response as? HTTPURLResponse)?.statusCode == 302)
    }

    @Test("the delegate of one call gets the bytes that its caller gets")
    func delegateOfOneCall() async throws {
        let origin = try ScriptedOrigin { _ in .ok("bytes") }
        let delegate = RecordingDelegate()
        let (data, _) = try await session(.transported, origin).data(
            for: URLRequest(url: origin.url("/a")),
            delegate: delegate
        )
        #expect(data == Data("bytes".utf8))
        #expect(delegate.calls == [.response(200), .data(5)])
    }

    @Test("a blocking rule and a rule without the network apply to every kind of task")
    func otherTasksStayFromTheNetwork() async throws {
        let origin = try ScriptedOrigin { _ in .ok("x") }
        let interceptor = try Interceptor {
            $0.rules = [
                .block("http://127.0.0.1:*/ads/**"),
                .allow("http://127.0.0.1:*/**", via: .cache(.cacheOnly)),
            ]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        var post = URLRequest(url: origin.url("/ads/1"))
        post.httpMethod = "POST"
        let upload = post
        let blocked = await #expect(throws: URLError.self) {
            try await session.upload(for: upload, from: Data("a".utf8))
        }
        #expect((blocked?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .blocked)
        let kept = await #expect(throws: URLError.self) { try await session.download(from: origin.url("/page")) }
        #expect((kept?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .notStored)
        post.url = origin.url("/page")
        let page = post
        let sent = await #expect(throws: URLError.self) {
            try await session.upload(for: page, from: Data("a".utf8))
        }
        #expect((sent?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code == .downloadUnavailable)
        #expect(origin.requestCount == 0)
    }

    @Test("a load that was handed back to Foundation is released")
    func handedBackLoadIsReleased() async throws {
        let interceptor = try Interceptor { $0.rules = [.allow("http://counted.test/**", via: .network)] }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [CountedProtocol.self] + (configuration.protocolClasses ?? [])
        let session = URLSession(configuration: configuration.intercepted(by: interceptor))
        let url = try #require(URL(string: "http://counted.test/"))
        for _ in 0..<50 { #expect(try await session.data(from: url).0 == Data("counted".utf8)) }
        session.finishTasksAndInvalidate()
        // The session's queue may still hold the last one.
        #expect(CountedProtocol.living.load(ordering: .relaxed) <= 2)
    }

    @Test("loads that are handed back reach Foundation's classes if the app's configuration has only other ones")
    func withoutFoundationsClasses() async throws {
        let origin = try ScriptedOrigin { .ok($0.body.isEmpty ? Data("there".utf8) : $0.body) }
        let configuration = URLSessionConfiguration.ephemeral
        configuration.protocolClasses = [CountedProtocol.self]
        let session = try session(.handedBack, origin, configuration: configuration)
        #expect(try await session.data(from: origin.url("/a")).0 == Data("there".utf8))
        var post = URLRequest(url: origin.url("/up"))
        post.httpMethod = "POST"
        #expect(try await session.upload(for: post, from: Data("an upload".utf8)).0 == Data("an upload".utf8))
        let (file, _) = try await session.download(from: origin.url("/down"))
        #expect(try Data(contentsOf: file) == Data("there".utf8))
    }

    @Test("a load that no class takes fails, and an event says so", .timeLimit(.minutes(5)))
    func withoutAnyClass() async throws {
        let interceptor = try Interceptor { $0.rules = [.allow("unknown://forward.test/**", via: .network)] }
        var events = interceptor.events.makeAsyncIterator()
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let url = try #require(URL(string: "unknown://forward.test/"))
        let error = await #expect(throws: URLError.self) { try await session.data(from: url) }
        #expect(error?.code == .unsupportedURL)
        guard case .failed(let failure)? = await events.next()?.kind else {
            Issue.record("the first event of the load is not its failure")
            return
        }
        #expect(failure.code == .unsupportedURL)
    }

    @Test("a request has the same fields on the wire as without the waystation")
    func noMarks() async throws {
        let origin = try ScriptedOrigin { _ in .ok("x") }
        _ = try await URLSession(configuration: .ephemeral).data(from: origin.url("/a"))
        for way in Way.allCases { _ = try await session(way, origin).data(from: origin.url("/a")) }
        // A request whose response may be stored asks for no content coding.
        let sent = origin.requests.map { Set($0.fields.filter { $0.name != "Accept-Encoding" }) }
        try #require(sent.count == 3)
        #expect(sent[1] == sent[0])
        #expect(sent[2] == sent[0])
    }

    @Test("an interceptor that a configuration has twice forwards a load once")
    func noLoop() async throws {
        let origin = try ScriptedOrigin { _ in .ok("once") }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.networkFirst()))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
        }
        // The outer installation forwards with a configuration that has the inner installation.
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor).intercepted(by: interceptor)
        let (data, _) = try await URLSession(configuration: configuration).data(from: origin.url("/a"))
        #expect(data == Data("once".utf8))
        #expect(origin.requestCount == 1)
    }

    @Test("the delegate of one call gets the upload progress that comes after the response's head")
    func progressAfterAnswer() async throws {
        let network = ScriptedTransport { _ in
            ScriptedTransport.Answer([.head(200), .sent(4, total: 4, expected: 4), .part(Data("taken".utf8)), .end])
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://upload.test/**", via: .cache(.networkFirst()))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
            $0.makeTransport = { _ in network }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        var post = URLRequest(url: try #require(URL(string: "http://upload.test/")))
        post.httpMethod = "POST"
        post.httpBody = Data("body".utf8)
        let delegate = SendingDelegate()
        #expect(try await session.data(for: post, delegate: delegate).0 == Data("taken".utf8))
        #expect(delegate.totals.withLock { $0 } == [4])
    }
}

/// Records how much of a body was sent.
private final class SendingDelegate: NSObject, URLSessionTaskDelegate {
    let totals = Mutex<[Int64]>([])

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        totals.withLock { $0.append(totalBytesSent) }
    }
}

/// A protocol class of the app's own, after the waystation's, that counts its instances.
private final class CountedProtocol: URLProtocol {
    static let living = Atomic(0)

    required init(request: URLRequest, cachedResponse: CachedURLResponse?, client: (any URLProtocolClient)?) {
        super.init(request: request, cachedResponse: cachedResponse, client: client)
        Self.living.add(1, ordering: .relaxed)
    }

    deinit { Self.living.subtract(1, ordering: .relaxed) }

    override class func canInit(with request: URLRequest) -> Bool { request.url?.host == "counted.test" }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }

    override func startLoading() {
        guard let url = request.url,
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
        else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("counted".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }

    override func stopLoading() {}
}
