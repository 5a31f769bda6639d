#if AsyncHTTPClient
package import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Waystation
package import WaystationFoundation
import WaystationHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The `HTTPClient` of an app, as a connection to one origin that takes any number of exchanges.
///
/// The client opens and keeps the real connections, and makes requests wait for one, as its configuration says. The
/// exchange keeps what is the engine's: fields, time-outs, progress, backpressure, and the content codings that the client
/// does not remove.
///
/// It is confined to the event loop of its engine, which is one of the client's.
final class HTTPClientConnection: ExchangeConnection {
    private let client: HTTPClient
    private let settings: HTTPClientSettings
    private let origin: Origin
    private let loop: any EventLoop
    private weak var owner: (any ConnectionOwner)?
    private var calls: [ObjectIdentifier: HTTPClientCall] = [:]
    private var closesWhenIdle = false

    init(
        _ client: HTTPClient,
        _ settings: HTTPClientSettings,
        to origin: Origin,
        owner: any ConnectionOwner,
        loop: any EventLoop
    ) {
        self.client = client
        self.settings = settings
        self.origin = origin
        self.owner = owner
        self.loop = loop
    }

    func begin(_ exchange: any ConnectionExchange) {
        let id = ObjectIdentifier(exchange)
        let call = HTTPClientCall(exchange, origin, settings, loop) { [weak self] in self?.ended(id) }
        calls[id] = call
        call.begin(with: client)
    }

    func cancel(_ exchange: any ConnectionExchange) {
        calls[ObjectIdentifier(exchange)]?.cancel()
    }

    func resume(_ exchange: any ConnectionExchange) { calls[ObjectIdentifier(exchange)]?.resume() }

    func send(_ part: ByteBuffer, isLast: Bool, of exchange: any ConnectionExchange) {
        calls[ObjectIdentifier(exchange)]?.send(part, isLast: isLast)
    }

    func closeWhenIdle() {
        closesWhenIdle = true
        closeIfIdle()
    }

    private func ended(_ id: ObjectIdentifier) {
        calls[id] = nil
        // The exchange gets its end before.
        if closesWhenIdle { loop.assumeIsolated().execute { self.closeIfIdle() } }
    }

    private func closeIfIdle() {
        guard closesWhenIdle, calls.isEmpty, let owner else { return }
        self.owner = nil
        owner.connectionDidClose(self)
    }
}

/// The settings of an `HTTPClient` on which the meaning of its responses depends.
///
/// The client has no public property for its configuration, so it is read by reflection. If it is not found, a response is
/// taken as that of a client that follows redirects and removes no content codings.
struct HTTPClientSettings: Equatable {
    /// Whether the client may follow redirects, which rules must see.
    var followsRedirects = true
    /// Whether the client removes the codings gzip and deflate, whose names stay in the response.
    var decompresses = false

    init(of client: HTTPClient) {
        let property = Mirror(reflecting: client).children.first { $0.label == "configuration" }
        guard let configuration = property?.value as? HTTPClient.Configuration else { return }
        if case .enabled = configuration.decompression { decompresses = true }
        // Its mode cannot be compared.
        followsRedirects = !"\(configuration.redirectConfiguration)".contains("disallow")
    }

    /// Whether the client has removed the coding of a body.
    fileprivate func removesCoding(of head: HTTPResponseHead) -> Bool {
        guard decompresses else { return false }
        let codings = head.headers[canonicalForm: "Content-Encoding"]
        return codings.count == 1 && ["gzip", "deflate"].contains { codings[0].equalsIgnoringCase($0) }
    }
}

/// One exchange that the client of an app carries.
private final class HTTPClientCall {
    private let exchange: any ConnectionExchange
    private let origin: Origin
    private let settings: HTTPClientSettings
    private let loop: any EventLoop
    private let atEnd: () -> Void
    private var task: HTTPClient.Task<Void>?
    private var writer: HTTPClient.Body.StreamWriter?
    /// Succeeds when the body of the request was written.
    private var written: EventLoopPromise<Void>?
    /// Succeeds when the exchange can take more of the response's body.
    private var taken: EventLoopPromise<Void>?
    private var hasHead = false
    /// The number of bytes of the body that are still to arrive of a response that ends the upload; nil for others.
    private var missingBytes: Int?
    private var isOver = false

    init(
        _ exchange: any ConnectionExchange,
        _ origin: Origin,
        _ settings: HTTPClientSettings,
        _ loop: any EventLoop,
        atEnd: @escaping () -> Void
    ) {
        self.exchange = exchange
        self.origin = origin
        self.settings = settings
        self.loop = loop
        self.atEnd = atEnd
    }

    // MARK: The exchange

    func begin(with client: HTTPClient) {
        let request: HTTPClient.Request
        do {
            request = try makeRequest()
        } catch {
            return end(ExchangeFailure(.invalidRequest, "The request cannot be sent: \(error.inWords)."))
        }
        let call = NIOLoopBound(self, eventLoop: loop)
        let task = client.execute(
            request: request,
            delegate: HTTPClientCallDelegate(call),
            eventLoop: .delegate(on: loop),
            // The time-out is the exchange's.
            deadline: nil,
            logger: nil
        )
        self.task = task
        task.futureResult.whenComplete { result in
            switch result {
            case .success: call.value.end(nil)
            case .failure(let error): call.value.end(call.value.failure(error))
            }
        }
    }

    func cancel() {
        guard leave() else { return }
        task?.cancel()
    }

    func resume() { taken.take()?.succeed() }

    func send(_ part: ByteBuffer, isLast: Bool) {
        guard !isOver, let writer else { return }
        // An empty chunk would be the end of the body.
        guard part.readableBytes > 0 else {
            if isLast { written.take()?.succeed() } else { loop.assumeIsolated().execute { self.askForBody() } }
            return
        }
        let call = NIOLoopBound(self, eventLoop: loop)
        writer.write(.byteBuffer(part)).hop(to: loop).whenComplete { result in
            switch result {
            case .failure(let error): call.value.written.take()?.fail(error)
            case .success where isLast: call.value.written.take()?.succeed()
            // The next part in a turn of its own: a write may succeed at once, and a body may have many parts.
            case .success: call.value.loop.execute { call.value.askForBody() }
            }
        }
    }

    private func askForBody() {
        guard !isOver else { return }
        exchange.needsBody()
    }

    private func makeRequest() throws -> HTTPClient.Request {
        let head = exchange.requestHead
        let host = origin.host.contains(":") ? "[\(origin.host)]" : origin.host
        var headers = HTTPHeaders(head.fields.map { ($0.name, $0.value) })
        headers.replaceOrAdd(name: "Host", value: head.authority)
        return try HTTPClient.Request(
            url: "\(head.scheme)://\(host):\(origin.port)\(head.target)",
            method: HTTPMethod(rawValue: head.method),
            headers: headers,
            body: makeBody(head.framing)
        )
    }

    private func makeBody(_ framing: EngineRequestHead.Framing) -> HTTPClient.Body? {
        let length: Int64?
        switch framing {
        case .none, .length(0): return nil
        case .length(let count): length = count
        case .unknownLength: length = nil
        }
        let call = NIOLoopBound(self, eventLoop: loop)
        return .stream(contentLength: length) { [loop] writer in
            loop.flatSubmit {
                guard !call.value.isOver else { return loop.makeFailedFuture(HTTPClientError.cancelled) }
                let written = loop.makePromise(of: Void.self)
                call.value.writer = writer
                call.value.written = written
                call.value.askForBody()
                return written.futureResult
            }
        }
    }

    // MARK: The client

    /// The statuses that a client follows.
    private static let redirects: Set<UInt> = [301, 302, 303, 304, 305, 307, 308]

    /// The head of a response arrived, before the client follows it if it is a redirect.
    func visit(_ head: HTTPResponseHead) {
        guard settings.followsRedirects, !isOver, Self.redirects.contains(head.status.code),
            let location = head.headers.first(name: "Location"),
            URL(string: location)?.scheme.map({ ["http", "https"].contains($0.lowercased()) }) ?? true
        else { return }
        var head = head
        // The body is not read.
        head.headers.remove(name: "Content-Length")
        exchange.take(EngineResponseHead(head))
        finish()
    }

    func take(_ head: HTTPResponseHead) {
        guard !isOver else { return }
        hasHead = true
        var head = head
        if settings.removesCoding(of: head) {
            head.headers.remove(name: "Content-Encoding")
            if exchange.requestHead.method != "HEAD" { head.headers.remove(name: "Content-Length") }
        }
        exchange.take(EngineResponseHead(head))
        endIfUploadIsRefused(head)
    }

    /// Ends a call whose server has answered before it got the whole body, and wants no more of it.
    ///
    /// The client stops sending at a status from 300 on. It then waits for the end of the upload for ever, and never tells
    /// the end of the response. So the end is found by the length of its body.
    private func endIfUploadIsRefused(_ head: HTTPResponseHead) {
        guard written != nil, head.status.code >= 300 else { return }
        let hasNoBody = exchange.requestHead.method == "HEAD" || head.status == .notModified
        missingBytes = hasNoBody ? 0 : head.headers.first(name: "Content-Length").flatMap { Int($0) }
        if missingBytes == 0 { finish() }
    }

    /// Ends a response that is complete, although the client does not know it.
    private func finish() {
        end(nil)
        task?.cancel()
    }

    func take(_ part: ByteBuffer) -> EventLoopFuture<Void> {
        guard !isOver else { return loop.makeSucceededVoidFuture() }
        let takesMore = exchange.take(part)
        if let missingBytes {
            self.missingBytes = missingBytes - part.readableBytes
            if missingBytes <= part.readableBytes { finish() }
        }
        guard !takesMore, !isOver else { return loop.makeSucceededVoidFuture() }
        let taken = loop.makePromise(of: Void.self)
        self.taken = taken
        return taken.futureResult
    }

    private func end(_ failure: ExchangeFailure?) {
        guard leave() else { return }
        exchange.end(failure)
    }

    /// - Returns: False if the call was over before.
    private func leave() -> Bool {
        guard !isOver else { return false }
        isOver = true
        taken.take()?.succeed()
        written.take()?.fail(HTTPClientError.cancelled)
        writer = nil
        atEnd()
        return true
    }

    private func failure(_ error: any Error) -> ExchangeFailure {
        var failure = ExchangeFailure(.connectionLost, "The HTTPClient ended the request: \(error.inWords).")
        switch error {
        // The network of the load repeats such a request once if its method allows it (`OriginExchange`): the server may have
        // closed an idle connection of the client while the request was on its way.
        case let error where error.isLostConnection && !hasHead:
            let text = "The server closed the connection before it answered. Try again."
            failure.kind = .reported(TransportFailure(.networkConnectionLost, text))
        case let error where error.isLostConnection:
            failure.explanation = "The server closed the connection before its response was complete."
        case let error as HTTPClientError where HTTPClientError.timeouts.contains(error):
            let text = "The HTTPClient ended the request: \(error.inWords). Raise the time-outs of its configuration."
            failure.kind = .reported(TransportFailure(.timedOut, text))
        case let error as HTTPClientError where error == .alreadyShutdown:
            let text = "The HTTPClient was shut down. Shut it down when no more requests are made."
            failure.kind = .reported(TransportFailure(.unknown, text))
        // A body that ends before its stated length: the connection was lost.
        case let error as HTTPParserError where hasHead && error == .invalidEOFState: break
        case is HTTPParserError: failure.kind = hasHead ? .invalidResponse : .notHTTP
        case is HTTPClientError: failure.kind = hasHead ? .invalidResponse : .invalidRequest
        case is NIOSSLError, is NIOSSLExtraError, is BoringSSLError:
            failure.kind = .reported(TransportFailure(handshake: error, host: origin.host))
        case is NIOConnectionError, is IOError, ChannelError.connectTimeout:
            failure.kind = .reported(TransportFailure(connecting: error, host: origin.host, port: origin.port))
        // Such as a stream of HTTP/2 that the server has reset.
        default: if !hasHead { failure.kind = .reported(TransportFailure(.networkConnectionLost, failure.explanation)) }
        }
        return failure
    }
}

extension Error {
    /// Whether a connection was lost after it had been made.
    fileprivate var isLostConnection: Bool {
        switch self {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as IOError: [ECONNRESET, EPIPE].contains(error.errnoCode)
        default: false
        }
    }
}

extension HTTPClientError {
    fileprivate static let timeouts: [HTTPClientError] = [
        .connectTimeout, .readTimeout, .writeTimeout, .getConnectionFromPoolTimeout, .tlsHandshakeTimeout,
        .httpProxyHandshakeTimeout, .socksHandshakeTimeout,
    ]
}

/// Passes each call of the client to the exchange, on its event loop.
private final class HTTPClientCallDelegate: HTTPClientResponseDelegate {
    private let call: NIOLoopBound<HTTPClientCall>

    init(_ call: NIOLoopBound<HTTPClientCall>) { self.call = call }

    func didVisitURL(task: HTTPClient.Task<Void>, _ request: HTTPClient.Request, _ head: HTTPResponseHead) {
        call.value.visit(head)
    }

    func didReceiveHead(task: HTTPClient.Task<Void>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        call.value.take(head)
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Void>, _ part: ByteBuffer) -> EventLoopFuture<Void> {
        call.value.take(part)
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {}
}

extension NIOTransport {
    /// Makes a transport that sends requests by a client of AsyncHTTPClient, on its event loops.
    package convenience init(configuration: URLSessionConfiguration, over client: HTTPClient) {
        let settings = HTTPClientSettings(of: client)
        var parts = EngineParts.standard
        // The client has proxies of its own.
        parts.makeRoutes = nil
        parts.makeClientConnection = { origin, owner, loop in
            HTTPClientConnection(client, settings, to: origin, owner: owner, loop: loop)
        }
        parts.loops = client.eventLoopGroup
        self.init(configuration: configuration, options: NIOOptions(), parts: parts)
    }
}
#endif
