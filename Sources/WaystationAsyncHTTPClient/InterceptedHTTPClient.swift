#if AsyncHTTPClient
public import AsyncHTTPClient
import HTTPTypes
public import Logging
public import NIOCore
import NIOHTTP1
import Synchronization
public import Waystation
import WaystationFoundation
import WaystationHTTP
import WaystationNIO

/// A client with AsyncHTTPClient's own calls, which loads by the rules of an interceptor.
///
/// ```swift
/// let client = interceptor.httpClient(over: http)
/// let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
/// let page = try await response.body.collect(upTo: 1 << 20)
/// ```
///
/// A request that no rule takes is passed to the `HTTPClient` as it is, and so is one with a TLS configuration or a local
/// address of its own. All others are answered by their rules, from the same files, packs and cache as those of a
/// session or a ``Waystation/DirectClient`` of the interceptor, with its login and its cookies; what is not there is
/// forwarded by the interceptor's ``Waystation/Interceptor/Configuration/transport``, which may be the same
/// `HTTPClient` (``Waystation/Interceptor/Carrier/asyncHTTPClient(_:)``).
///
/// A response of a rule differs from one of the `HTTPClient`:
///
/// - Its body has no content codings, and its head has the field `Cache-Status` (RFC 9211).
/// - Redirects are followed by the rules, at most 20 in a row. The history has one entry: the first request, with the
///   URL of the response.
/// - Errors are `URLError`, as from a session, but for `HTTPClientError.deadlineExceeded`, and `CancellationError` if the
///   task is cancelled before the head has arrived. An error of the request's own body is passed on.
///
/// A redirect that the `HTTPClient` follows by itself, of a request that no rule takes, is not seen by the rules.
///
/// All members may be called from any thread. The client does not shut the `HTTPClient` down.
public final class InterceptedHTTPClient: Sendable {
    /// The client that loads what no rule takes.
    public let base: HTTPClient
    private let client: DirectClient
    private let options: DirectClient.Options

    fileprivate init(_ base: HTTPClient, _ client: DirectClient, followsRedirects: Bool) {
        self.base = base
        self.client = client
        var options = DirectClient.Options()
        options.followsRedirects = followsRedirects
        self.options = options
    }

    /// Executes a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - timeout: How long the head of the response may take.
    ///   - logger: The logger of the `HTTPClient`; a load of a rule uses that of the interceptor.
    /// - Returns: The response, as soon as its head has arrived; its body is read as it arrives.
    /// - Throws: `HTTPClientError.deadlineExceeded`, `CancellationError` or `URLError`; what the `HTTPClient` throws if no rule
    ///   takes the request.
    public nonisolated(nonsending) func execute(
        _ request: HTTPClientRequest,
        timeout: TimeAmount,
        logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        try await execute(request, deadline: .now() + timeout, logger: logger)
    }

    /// Executes a request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - deadline: The time until which the head of the response must arrive.
    ///   - logger: The logger of the `HTTPClient`; a load of a rule uses that of the interceptor.
    /// - Returns: The response, as soon as its head has arrived; its body is read as it arrives.
    /// - Throws: `HTTPClientError.deadlineExceeded`, `CancellationError` or `URLError`; what the `HTTPClient` throws if no rule
    ///   takes the request.
    public nonisolated(nonsending) func execute(
        _ request: HTTPClientRequest,
        deadline: NIODeadline,
        logger: Logger? = nil
    ) async throws -> HTTPClientResponse {
        guard request.tlsConfiguration == nil, request.localAddress == nil else {
            return try await base.execute(request, deadline: deadline, logger: logger)
        }
        let key = RepeatedLoads.Key(request)
        if request.body == nil, options.followsRedirects, let load = client.loadAgain(key) {
            return HTTPClientResponse(load.head, .bytes(ByteBuffer(bytes: load.body)), request, url: request.url)
        }
        guard let message = HTTPRequest(request),
            let response = try await load(message, as: key, request.body, before: deadline)
        else {
            return try await base.execute(request, deadline: deadline, logger: logger)
        }
        let url = response.url?.absoluteString ?? request.url
        let body = HTTPClientResponse.Body.stream(response.body.map { ByteBuffer(bytes: $0) })
        return HTTPClientResponse(response.loadedHead, body, request, url: url)
    }

    /// Loads a response, whose head must arrive before the deadline; nil if no rule takes the request.
    private nonisolated(nonsending) func load(
        _ message: HTTPRequest,
        as key: RepeatedLoads.Key,
        _ body: HTTPClientRequest.Body?,
        before deadline: NIODeadline
    ) async throws -> DirectClient.Response? {
        let timer = Mutex<Scheduled<Void>?>(nil)
        defer { timer.withLock { $0.take() }?.cancel() }
        do {
            return try await client.claimedResponse(
                for: message,
                as: key,
                body: body.map { .parts($0.map { Data($0.readableBytesView) }) } ?? .none,
                options: options
            ) { stop in
                let scheduled = base.eventLoopGroup.any()
                    .scheduleTask(deadline: deadline) { stop(HTTPClientError.deadlineExceeded) }
                timer.withLock { $0 = scheduled }
            }
        } catch let error as URLError where error.code == .cancelled && Task.isCancelled {
            throw CancellationError()
        }
    }
}

extension Interceptor {
    /// Makes a client with AsyncHTTPClient's own calls, which loads by the interceptor's rules.
    ///
    /// - Parameters:
    ///   - base: The client that loads what no rule takes; the shared one by default.
    ///   - followsRedirects: Whether redirects that rules answer are followed; true by default. Otherwise a redirect to an
    ///     http or https URL is the response.
    /// - Returns: The client, which keeps the interceptor and the base.
    public func httpClient(over base: HTTPClient = .shared, followsRedirects: Bool = true) -> InterceptedHTTPClient {
        let configuration = URLSessionConfiguration.default
        // A call has a deadline of its own, and a server may be silent as long as that allows.
        configuration.timeoutIntervalForRequest = Self.longestSilence
        // The client of a server has no store of cookies unless the interceptor has one.
        configuration.httpCookieStorage = nil
        configuration.urlCredentialStorage = nil
        return InterceptedHTTPClient(
            base,
            client(configuration: configuration),
            followsRedirects: followsRedirects
        )
    }

    /// A year, in seconds.
    private static let longestSilence: TimeInterval = 365 * 86_400
}

extension Interceptor.Carrier {
    /// A client of AsyncHTTPClient: requests are forwarded over its connections, with its TLS configuration and proxies.
    ///
    /// The client may follow redirects or remove content codings: each redirect is handed to the rules all the same. With a
    /// client that follows redirects, each redirect closes its connection to the server, and is delivered and stored
    /// without its body. The client must not be shut down before the interceptor's last load. A connection that cannot be
    /// made is tried again by the client until its `timeout.connect`.
    ///
    /// Loads are carried on the client's event loops: code of the app that runs there must not wait for a load. The web
    /// sockets of a gateway are opened by the engine on SwiftNIO itself, without the client's proxy.
    ///
    /// - Parameter client: The client.
    /// - Returns: The carrier.
    public static func asyncHTTPClient(_ client: HTTPClient) -> Interceptor.Carrier {
        Interceptor.Carrier { NIOTransport(configuration: $0, over: client) }
    }
}

extension RepeatedLoads.Key {
    fileprivate init(_ request: HTTPClientRequest) {
        var fields: [String] = []
        if !request.headers.isEmpty {
            fields.reserveCapacity(2 * request.headers.count)
            for (name, value) in request.headers {
                fields.append(name)
                fields.append(value)
            }
        }
        self = .text(url: request.url, method: request.method.rawValue, fields: fields)
    }
}

extension HTTPRequest {
    /// Makes a message of a request; nil if its URL is not one of HTTP with a host.
    fileprivate init?(_ request: HTTPClientRequest) {
        let url = request.url
        guard let colon = url.utf8.firstIndex(of: UInt8(ascii: ":")), url[colon...].utf8.starts(with: "://".utf8),
            case let scheme = url[..<colon].lowercased(), scheme == "http" || scheme == "https"
        else { return nil }
        let rest = url[url.utf8.index(colon, offsetBy: 3)...]
        let end = rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        let target = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") }
        let path = rest[min(target ?? end, end)..<end]
        let authority = rest[..<path.startIndex]
        guard !authority.isEmpty, let method = Method(rawValue: request.method.rawValue) else { return nil }
        var fields = HTTPFields()
        for (name, value) in request.headers {
            guard let name = HTTPField.Name(name) else { return nil }
            fields.append(HTTPField(name: name, value: value))
        }
        self.init(
            method: method,
            scheme: scheme,
            authority: String(authority),
            path: path.first == "/" ? String(path) : "/\(path)",
            headerFields: fields
        )
    }
}

extension HTTPClientResponse {
    fileprivate init(_ head: ResponseHead, _ body: Body, _ request: HTTPClientRequest, url: String) {
        let head = head.translated(TranslatedHead.init).head
        var last = request
        last.url = url
        self.init(
            version: head.version,
            status: head.status,
            headers: head.headers,
            body: body,
            history: [HTTPClientRequestResponse(request: last, responseHead: head)]
        )
    }
}

/// A head as AsyncHTTPClient has it; a head that answers many requests is translated once.
private final class TranslatedHead: Sendable {
    let head: HTTPResponseHead

    init(_ message: HTTPResponse) {
        var headers = HTTPHeaders()
        headers.reserveCapacity(message.headerFields.count)
        // The coding was removed from the body, and its length was that of the coded bytes.
        let wasCoded = ContentCodings(message.headerFields[values: .contentEncoding]).areRemoved
        for field in message.headerFields
        where !wasCoded || (field.name != .contentEncoding && field.name != .contentLength) {
            headers.add(name: field.name.rawName, value: field.value)
        }
        let status = HTTPResponseStatus(statusCode: message.status.code)
        head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
    }
}
#endif
