import Waystation
import WaystationFoundation
import WaystationOrigin

/// Loads that show whether a trap is there, by a plain session or by one that Waystation intercepts.
struct TrapLoads {
    let way: Trap.Way

    init(_ way: Trap.Way) { self.way = way }

    /// Makes the loads that try out a trap, and returns what went wrong.
    ///
    /// - Returns: A description of the fault; nil if the loads behaved correctly.
    func fault(of trap: Trap) async throws -> String? {
        switch trap {
        case .loadInsideProtocol: try await loadInsideProtocol()
        case .markedRequest: try await markedRequest()
        case .redirectOfProtocol: try await redirectOfProtocol()
        case .partsOfBody: try await partsOfBody()
        case .downloadOfProtocol: try await downloadOfProtocol()
        case .storedResponse: try await storedResponse()
        case .queryOfStoredResponse: try await queryOfStoredResponse()
        case .registeredClass: try await registeredClass()
        case .canonicalRequest: try await canonicalRequest()
        case .bodyOfUpload: try await bodyOfUpload()
        case .unansweredChallenge: try await unansweredChallenge()
        case .refusedResponse: try await refusedResponse()
        case .pathOfCookie: try await pathOfCookie()
        case .fieldsOfDecodedBody: try await fieldsOfDecodedBody()
        case .bodyAfterRedirect: try await bodyAfterRedirect()
        case .framingOfStream: try await framingOfStream()
        case .closedStream: try await closedStream()
        case .suspendedTask: try await suspendedTask()
        case .intervalOfInitializer: try await intervalOfInitializer()
        case .interimResponse: try await interimResponse()
        case .trailer: try await trailer()
        case .droppedConnection: try await droppedConnection()
        case .credentialBehindRedirect: try await credentialBehindRedirect()
        case .storedCredential: storedCredential()
        case .numberInField: try await numberInField()
        case .relativeLocation: try await relativeLocation()
        case .cutCoding: try await cutCoding()
        }
    }

    // MARK: - Sessions

    /// The URLs of all origins of the doctor.
    static let origins = "http://127.0.0.1:*/**"

    /// A session whose loads reach a protocol class, if one is given, or go through Waystation to the network.
    func session(
        through plainClass: AnyClass? = nil,
        delegate: (any URLSessionDelegate)? = nil
    ) throws -> URLSession {
        try session(delegate: delegate) { configuration in
            // Waystation's own transport sends these loads, because it adds the cookies.
            configuration.cookies = CookieStore()
            configuration.rules = [.allow(Self.origins, via: .network)]
        } plain: { configuration in
            if let plainClass { configuration.protocolClasses = [plainClass] + (configuration.protocolClasses ?? []) }
        }
    }

    /// A session whose loads are answered by Waystation's cache, or by what the plain configuration has.
    private func cachingSession(
        in folder: TemporaryFolder,
        storesCodedBodies: Bool = false,
        plain: (URLSessionConfiguration) -> Void
    ) throws -> URLSession {
        try session(
            { configuration in
                configuration.cache = try ResponseCache(directory: folder.url.appending(path: "cache"))
                configuration.storesCodedBodies = storesCodedBodies
                configuration.rules = [.allow(Self.origins, via: .cache(.standard))]
            },
            plain: plain
        )
    }

    func session(
        delegate: (any URLSessionDelegate)? = nil,
        adding fields: [AnyHashable: Any]? = nil,
        _ configure: (inout Interceptor.Configuration) throws -> Void,
        plain: (URLSessionConfiguration) -> Void = { _ in }
    ) throws -> URLSession {
        var configuration = URLSessionConfiguration.ephemeral
        configuration.httpAdditionalHeaders = fields
        switch way {
        case .plain: plain(configuration)
        case .waystation: configuration = configuration.intercepted(by: try Interceptor(configure))
        }
        return URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
    }
}

extension URLResponse {
    var status: Int { (self as? HTTPURLResponse)?.statusCode ?? 0 }
}

/// Loads with fields of their session's configuration.
extension TrapLoads {
    func numberInField() async throws -> String? {
        let origin = try ScriptedOrigin { .ok($0.value(of: "X-Build") ?? "") }
        let session = try session(adding: ["X-Build": 42]) { $0.rules = [.allow(Self.origins, via: .network)] }
        let (body, _) = try await session.data(from: origin.url())
        return body == Data("42".utf8) ? nil : "the field is sent as “\(String(decoding: body, as: UTF8.self))”"
    }
}

/// The ends of loads, which a plain load may not have.
extension TrapLoads {
    /// Waits for the end of a load.
    ///
    /// A plain load may never end. It counts as such if other loads, which began when the server had its request, have
    /// ended before it. Loads through Waystation always end, so nothing bounds them.
    ///
    /// - Returns: The load's result; nil if it does not end.
    func end<Result: Sendable>(
        of load: @escaping @Sendable () async -> Result,
        before others: @escaping @Sendable () async -> Void
    ) async -> Result? {
        let ends = AsyncStream<Result?>.makeStream()
        Task { ends.continuation.yield(await load()) }
        if way == .plain {
            Task {
                await others()
                ends.continuation.yield(nil)
            }
        }
        return await ends.stream.first { _ in true } ?? nil
    }

    /// Makes loads, one after another, which a plain session begins and ends while an earlier load gets no answer.
    private func otherLoads(_ session: URLSession, _ origin: ScriptedOrigin) async {
        for _ in 0..<10 { _ = try? await session.data(from: origin.url("/other")) }
    }

    /// Makes a load whose response does not matter.
    ///
    /// - Returns: The code of its error; ``URLError/Code/unknown`` if it has none.
    func error(of request: URLRequest, _ session: URLSession) async -> URLError.Code {
        do { _ = try await session.data(for: request) } catch { return (error as? URLError)?.code ?? .unknown }
        return .unknown
    }
}

/// Loads whose tasks are suspended or have a time-out.
extension TrapLoads {
    func suspendedTask() async throws -> String? {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data("first".utf8)), .wait(gate), .bytes(Data("rest".utf8))])
        }
        let delegate = LoadRecorder(first: { task in
            task.suspend()
            task.resume()
            gate.open()
        })
        try session(delegate: delegate).dataTask(with: origin.url()).resume()
        let load = await end {
            await delegate.load
        } before: {
            await origin.waitForRequests(2)
        }
        guard origin.requestCount == 1 else { return "resuming a suspended task sends the request again" }
        return load?.body == Data("firstrest".utf8) ? nil : "a suspended task loses or repeats bytes"
    }

    func intervalOfInitializer() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/other" ? .ok() : .unanswered }
        let session = try session()
        let request = URLRequest(url: origin.url(), cachePolicy: .useProtocolCachePolicy, timeoutInterval: 1)
        let code = await end {
            await error(of: request, session)
        } before: {
            await origin.waitForRequests(1)
            // Foundation obeys the interval if the property was set.
            var late = URLRequest(url: origin.url())
            late.timeoutInterval = 1
            _ = await error(of: late, session)
            await otherLoads(session, origin)
        }
        return code == .timedOut ? nil : "a time-out of 1 s in a request's initializer is ignored"
    }
}

/// Loads of responses with uncommon parts.
extension TrapLoads {
    func interimResponse() async throws -> String? {
        let bytes = "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        let origin = try ScriptedOrigin { _ in .raw(Data(bytes.utf8)) }
        let delegate = FirstResponse()
        try session(delegate: delegate).dataTask(with: origin.url()).resume()
        let status = await delegate.status
        return status == 200 ? nil : "the delegate gets the status \(status) of an interim response"
    }

    func trailer() async throws -> String? {
        let bytes = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nX-Sum: 1\r\n\r\n"
        let origin = try ScriptedOrigin { _ in .raw(Data(bytes.utf8)) }
        let (data, _) = try await session().data(from: origin.url())
        return data == Data("ok".utf8) ? nil : "the body is not what was sent"
    }

    func relativeLocation() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/folder/from" ? .redirect(302, to: "to") : .ok() }
        _ = try await session().data(from: origin.url("/folder/from"))
        let path = origin.requests.last?.path ?? ""
        return path == "/folder/to" ? nil : "the Location “to” of /folder/from leads to \(path)"
    }

    func cutCoding() async throws -> String? {
        let cut = Self.zipped.prefix(Self.zipped.count / 2)
        let origin = try ScriptedOrigin { _ in .ok(cut, fields: ["Content-Encoding": "gzip"]) }
        let session = try session()
        do { _ = try await session.data(from: origin.url()) } catch {
            guard origin.requestCount == 1 else { throw error }
            return nil
        }
        return "half of a gzip body ends the load without an error"
    }

    /// A hundred times "compressible ", by gzip.
    static let zipped =
        Data(base64Encoded: "H4sIAAAAAAACA0vOzy0oSi0uzkzKSVVIHuWMckY5o5yRzQEAlotzNBQFAAA=") ?? Data()
}

/// Loads whose responses may be stored.
extension TrapLoads {
    func storedResponse() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("stored", fields: Self.fresh) }
        let folder = try TemporaryFolder()
        let session = try cachingSession(in: folder) { $0.urlCache = memoryCache }
        for _ in 0..<2 { _ = try await session.data(from: origin.url("/a")) }
        return origin.requestCount == 1 ? nil : "URLCache stores nothing: two loads are two requests"
    }

    func queryOfStoredResponse() async throws -> String? {
        let origin = try ScriptedOrigin { .ok($0.target, fields: Self.fresh) }
        let folder = try TemporaryFolder()
        let cache = memoryCache
        let session = try cachingSession(in: folder) { $0.urlCache = cache }
        let first = origin.url("/a?x=1")
        let (data, response) = try await session.data(from: first)
        // URLCache does not store by itself what a session loads; the cache of Waystation is another one.
        cache.storeCachedResponse(CachedURLResponse(response: response, data: data), for: URLRequest(url: first))
        let (other, _) = try await session.data(from: origin.url("/a?x=2"))
        return other == Data("/a?x=2".utf8) ? nil : "the stored response to ?x=1 answers ?x=2"
    }

    func canonicalRequest() async throws -> String? {
        let origin = try ScriptedOrigin { .ok($0.target, fields: Self.fresh) }
        let folder = try TemporaryFolder()
        let session = try cachingSession(in: folder) { $0.protocolClasses = [CanonicalProtocol.self] }
        let answers = [
            try await session.data(from: origin.url("/~a")).0, try await session.data(from: origin.url("/%7Ea")).0,
        ]
        return answers[0] == answers[1] ? nil : "canonicalRequest(for:) is never called"
    }

    func fieldsOfDecodedBody() async throws -> String? {
        let origin = try ScriptedOrigin { _ in
            .ok(Self.zipped, fields: ["Content-Encoding": "gzip", "Cache-Control": "max-age=3600"])
        }
        let folder = try TemporaryFolder()
        let session = try cachingSession(in: folder, storesCodedBodies: true) { $0.urlCache = memoryCache }
        _ = try await session.data(from: origin.url("/a"))
        let (data, response) = try await session.data(from: origin.url("/a"))
        let coding = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Encoding")
        guard coding != nil || response.expectedContentLength != data.count else { return nil }
        return "a body of \(data.count) bytes has a Content-Length of \(response.expectedContentLength)"
    }

    private static let fresh: KeyValuePairs = ["Cache-Control": "max-age=3600"]

    private var memoryCache: URLCache { URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: nil) }
}

/// Loads that send a body.
extension TrapLoads {
    func bodyAfterRedirect() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/from" ? .redirect(307, to: "/to") : .ok() }
        _ = try await session().data(for: post(to: origin.url("/from")))
        let arrived = origin.requests.last
        guard arrived?.path == "/to", arrived?.method == "POST" else { return "the redirect is not followed by POST" }
        return arrived?.body == Self.body ? nil : "POST follows a redirect with 307 without its body"
    }

    func framingOfStream() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok() }
        var request = post(to: origin.url(), InputStream(data: Self.body))
        request.setValue("\(Self.body.count)", forHTTPHeaderField: "Content-Length")
        _ = try await session().data(for: request)
        let framings = ["Content-Length", "Transfer-Encoding"].filter { origin.requests.last?.value(of: $0) != nil }
        return framings.count == 1 ? nil : "a stream is sent with \(framings.joined(separator: " and "))"
    }

    func closedStream() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok() }
        let stream = InputStream(data: Self.body)
        stream.open()
        stream.close()
        let session = try session(through: StreamProtocol.self)
        let code = await error(of: post(to: origin.url(), stream), session)
        return code == .requestBodyStreamExhausted ? nil : "the load does not fail because of its stream"
    }

    func droppedConnection() async throws -> String? {
        // The first load leaves a connection, which the server drops when it has the second request.
        let origin = try ScriptedOrigin { $0.path == "/to" && $0.connection == 0 ? .closed : .ok() }
        let session = try session()
        _ = try await session.data(from: origin.url("/from"))
        let request = post(to: origin.url("/to"))
        let isEnded = await end {
            await error(of: request, session)
        } before: {
            await origin.waitForRequests(2)
            await otherLoads(session, origin)
        }
        return isEnded == nil ? "the load does not end" : nil
    }

    private static let body = Data("body".utf8)

    private func post(to url: URL, _ stream: InputStream? = nil) -> URLRequest {
        var request = URLRequest(url: url)
        request.httpMethod = "POST"
        if let stream { request.httpBodyStream = stream } else { request.httpBody = Self.body }
        return request
    }
}

/// Loads with cookies, and from servers that ask for a credential.
extension TrapLoads {
    func pathOfCookie() async throws -> String? {
        let origin = try ScriptedOrigin { request in
            request.path.hasPrefix("/shop") ? .ok("", fields: ["Set-Cookie": "id=1; Path=/shop"]) : .ok()
        }
        let session = try session()
        for path in ["/shop/", "/other"] { _ = try await session.data(from: origin.url(path)) }
        let sent = origin.requests.last?.value(of: "Cookie")
        return sent == nil ? nil : "a cookie of /shop is sent to /other"
    }

    func unansweredChallenge() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/secret" ? Self.challenge : .ok() }
        let session = try session()
        let status = await end {
            (try? await session.data(from: origin.url("/secret")))?.1.status ?? 0
        } before: {
            await origin.waitForRequests(1)
            await otherLoads(session, origin)
        }
        guard let status else { return "the load does not end" }
        return status == 401 ? nil : "the load ends without the 401"
    }

    func credentialBehindRedirect() async throws -> String? {
        let asking = try ScriptedOrigin { $0.value(of: "Authorization") == nil ? Self.challenge : .ok() }
        let target = asking.url().absoluteString
        let redirecting = try ScriptedOrigin { _ in .redirect(302, to: target) }
        let delegate = LoadRecorder(credential: URLCredential(user: "u", password: "p", persistence: .none))
        try session(delegate: delegate).dataTask(with: redirecting.url()).resume()
        _ = await end {
            await delegate.load
        } before: {
            await redirecting.waitForRequests(2)
        }
        if redirecting.requests.contains(where: { $0.value(of: "Authorization") != nil }) {
            return "the server that redirected gets the credential"
        }
        return asking.requests.last?.value(of: "Authorization") == nil ? "no server gets the credential" : nil
    }

    func storedCredential() -> String? {
        func space() -> URLProtectionSpace {
            URLProtectionSpace(
                host: "127.0.0.1",
                port: 80,
                protocol: "http",
                realm: "r",
                authenticationMethod: NSURLAuthenticationMethodHTTPBasic
            )
        }
        let storage = URLCredentialStorage()
        let credential = URLCredential(user: "u", password: "p", persistence: .forSession)
        storage.setDefaultCredential(credential, for: space())
        return storage.defaultCredential(for: space()) != nil
            ? nil : "protection spaces are compared by identity, so a stored credential is not found"
    }

    private static var challenge: ScriptedOrigin.Response {
        .status(401, fields: ["WWW-Authenticate": "Basic realm=\"r\""])
    }
}

/// Loads that a class of URLProtocol takes.
extension TrapLoads {
    func loadInsideProtocol() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("arrived") }
        // The inner session is made here: the trap is a task that is made in `startLoading`, not a session.
        _ = LoadingProtocol.session
        let session = try session(through: LoadingProtocol.self)
        let (data, _) = try await session.data(from: origin.url())
        return data == Data("arrived".utf8) ? nil : "the load does not get its answer"
    }

    func markedRequest() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("arrived") }
        let session = try session(through: MarkingProtocol.self)
        let (data, _) = try await session.data(for: MarkingProtocol.marked(URLRequest(url: origin.url())))
        return data == Data("arrived".utf8) && origin.requestCount == 1
            ? nil : "a property of the request is lost, so a URLProtocol gets its own request again"
    }

    func redirectOfProtocol() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/from" ? .redirect(302, to: "/to") : .ok("arrived") }
        let (data, _) = try await session(through: RedirectingProtocol.self).data(from: origin.url("/from"))
        return data == Data("arrived".utf8) ? nil : "the redirect is not followed"
    }

    func partsOfBody() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("first".utf8)), .bytes(Data("second".utf8))]) }
        let session = try session(through: TwoPartProtocol.self)
        let data = await withCheckedContinuation { continuation in
            session.dataTask(with: origin.url()) { data, _, _ in continuation.resume(returning: data ?? Data()) }
                .resume()
        }
        let text = String(decoding: data, as: UTF8.self)
        return text == "firstsecond"
            ? nil : "a completion handler gets only the last part of a protocol's body, “\(text)”"
    }

    func downloadOfProtocol() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("firstsecond") }
        let session = try session(through: TwoPartProtocol.self)
        let data = await withCheckedContinuation { continuation in
            // The file exists only until the handler returns.
            session.downloadTask(with: origin.url()) { file, _, _ in
                continuation.resume(returning: file.flatMap { try? Data(contentsOf: $0) })
            }
            .resume()
        }
        return data == Data("firstsecond".utf8) ? nil : "a download that a URLProtocol answers gets no file"
    }

    func bodyOfUpload() async throws -> String? {
        let origin = try ScriptedOrigin { .ok($0.body) }
        var request = URLRequest(url: origin.url())
        request.httpMethod = "POST"
        let body = Data("body".utf8)
        let (data, _) = try await session(through: EchoProtocol.self).upload(for: request, from: body)
        return data == body ? nil : "a URLProtocol cannot see the body of an upload"
    }

    func refusedResponse() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .status(404) }
        let folder = try TemporaryFolder(["page.txt": "firstsecond"])
        let delegate = LoadRecorder(disposition: .cancel)
        let session = try session(delegate: delegate) { configuration in
            configuration.rules = [.allow(Self.origins, via: .files(in: folder.url, at: origin.url().absoluteString))]
        } plain: { configuration in
            configuration.protocolClasses = [TwoPartProtocol.self]
        }
        session.dataTask(with: origin.url("/page.txt")).resume()
        let load = await delegate.load
        return load.error == .cancelled && load.body.isEmpty
            ? nil : "the delegate gets the body of a response that it refused"
    }

    func registeredClass() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .status(404) }
        let folder = try TemporaryFolder(["page.txt": "firstsecond"])
        _ = URLProtocol.registerClass(TwoPartProtocol.self)
        let session = try session { configuration in
            configuration.rules = [.allow(Self.origins, via: .files(in: folder.url, at: origin.url().absoluteString))]
        }
        let (_, response) = try await session.data(from: origin.url("/page.txt"))
        return response.status == 200 ? nil : "the load goes past a registered class"
    }
}
