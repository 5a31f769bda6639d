package import HTTPTypes
import Synchronization
public import Waystation
public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// Fetches through any transport, such as the engine on SwiftNIO or a scripted one in tests.
///
/// ```swift
/// let fetcher = TransportFetcher(NIOTransport(configuration: .ephemeral))
/// let source = CatalogueSource(endpoint, trusting: [releaseKey], fetcher: fetcher)
/// ```
///
/// Redirects are followed to http and https URLs, never from https to http, at most ten in a row; a 307 or 308 sends the
/// body again (RFC 9110 §15.4). A redirect to another origin gets only the fields about ranges, validators and kinds of
/// content, so that no key or password leaves its origin; fields that the transport adds by itself are sent to every
/// origin. A response that is not followed is the answer.
///
/// A transport that can pause (``Waystation/TransportExchange/pause()``) does so while more than 256 KiB wait for
/// their reader. Give the fetcher a transport of its own, without an interceptor, a cache or cookies. A request that the
/// transport cannot carry is sent by ``URLSessionFetcher/shared``. All members may be called from any thread.
public struct TransportFetcher: PackFetching {
    private static let redirectLimit = 10

    private let transport: any Transport
    fileprivate let backlog = Fetch.Backlog()

    /// Makes a fetcher that sends its requests through `transport`.
    public init(_ transport: any Transport) { self.transport = transport }

    /// Sends the request, and those to which redirects lead, as exchanges of the transport.
    public func fetch(_ request: FetchRequest) async throws -> FetchedResponse {
        guard request.url.isHTTP else {
            throw PackError(.invalidArgument, "\(request.url.shown) cannot be fetched: use an http or https URL")
        }
        var (sent, redirects) = (URLRequest(request), 0)
        while true {
            let fetch = Fetch(of: request.url, maximumBodySize: request.maximumBodySize, backlog: backlog)
            let carrier = transport.canCarry(sent) ? transport : URLSessionFetcher.shared.transport
            let head = try await fetch.head(of: sent, through: carrier)
            guard redirects < Self.redirectLimit, let next = Self.next(after: head, to: sent) else {
                return FetchedResponse(
                    status: head.statusCode,
                    fields: head.message.headerFields,
                    url: sent.url ?? request.url,
                    body: fetch.body
                )
            }
            fetch.cancel()
            (sent, redirects) = (next, redirects + 1)
        }
    }

    /// The request to which a redirect leads; nil if the response is the answer.
    static func next(after head: ResponseHead, to request: URLRequest) -> URLRequest? {
        guard case .follow(var next) = RedirectPolicy.decision(for: head, to: request, after: 0),
            let current = request.url, let target = next.url, target.isHTTP,
            !current.isHTTPS || target.isHTTPS
        else { return nil }
        if !current.hasSameOrigin(as: target) {
            for name in (next.allHTTPHeaderFields ?? [:]).keys where !isKeptAcrossOrigins(name.lowercased()) {
                next.setValue(nil, forHTTPHeaderField: name)
            }
        }
        return next
    }

    /// Whether a redirect to another origin keeps a field.
    ///
    /// Only fields about ranges, validators, kinds of content and the client are kept, because any other may hold a
    /// secret.
    private static func isKeptAcrossOrigins(_ name: String) -> Bool {
        ["range", "if-range", "if-none-match", "if-modified-since", "content-type", "content-length", "user-agent"]
            .contains(name) || name.hasPrefix("accept")
    }
}

/// Fetches through Foundation, with one long-lived session that is created with the first request.
///
/// The session uses only Foundation's loaders, so packs are never fetched through an interceptor. It keeps no cache, no
/// cookies and no credentials. Redirects are followed as by ``TransportFetcher``; the additional fields of the
/// configuration count as fields of the request.
///
/// Foundation cannot pause a single transfer. While more than 1 MiB waits for the readers of a fetcher, its session slows
/// all its transfers down, so that a reader that stands still gets some 160 KiB each second into memory, and one that is
/// only slow is waited for.
public final class URLSessionFetcher: PackFetching {
    /// A shared fetcher with the default configuration, since sessions are expensive.
    public static let shared = URLSessionFetcher()

    private struct Settings: @unchecked Sendable {
        // `@unchecked`: a private copy of a configuration that is not changed any more.
        let configuration: URLSessionConfiguration
        /// The fields that the configuration adds, as fields of each request: a session would add them to the requests to
        /// other origins as well.
        let fields: HTTPFields
    }

    private struct Made: Sendable {
        let transport: URLSessionTransport
        let fetcher: TransportFetcher
    }

    private let settings: Settings
    // The session is created only when it is needed: after the first session of a process, Foundation ignores
    // `URLProtocol.registerClass`.
    private let made = Mutex<Made?>(nil)

    /// Makes a fetcher whose session uses a copy of `configuration`: its time limits, its proxy, its additional fields.
    public init(configuration: URLSessionConfiguration = .ephemeral) {
        let own = (configuration.copy() as? URLSessionConfiguration) ?? .ephemeral
        own.httpCookieStorage = nil
        own.protocolClasses = URLSessionConfiguration.ephemeral.protocolClasses
        own.httpAdditionalHeaders = nil
        settings = Settings(configuration: own, fields: HTTPFields(configuration.additionalFields))
    }

    private var current: Made {
        made.withLock { made in
            if let made { return made }
            let transport = URLSessionTransport(configuration: settings.configuration)
            let fetcher = TransportFetcher(transport)
            transport.keepPace { [backlog = fetcher.backlog] in backlog.bytes }
            let new = Made(transport: transport, fetcher: fetcher)
            made = new
            return new
        }
    }

    /// The transport through which the fetcher sends its requests.
    var transport: URLSessionTransport { current.transport }

    /// The bytes that wait for the readers of its responses.
    var backlog: Fetch.Backlog { current.fetcher.backlog }

    /// Sends the request as a data task of the fetcher's session.
    public func fetch(_ request: FetchRequest) async throws -> FetchedResponse {
        var request = request
        for field in settings.fields where request.fields[field.name] == nil { request.fields.append(field) }
        return try await current.fetcher.fetch(request)
    }
}

extension URLRequest {
    fileprivate init(_ request: FetchRequest) {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        for field in request.fields { addValue(field.value, forHTTPHeaderField: field.name.rawName) }
        if !request.body.isEmpty { httpBody = request.body }
        cachePolicy = .reloadIgnoringLocalCacheData
    }
}

/// A complete response with a status of success.
package struct CollectedResponse: Sendable {
    package let fields: HTTPFields
    package let url: URL
    package let body: Data
    package let retryAfter: Duration?
}

extension PackFetching {
    /// Fetches a complete, small body.
    ///
    /// - Throws: ``PackError``, also for a status other than 200.
    package func collect(_ request: FetchRequest, now: Date) async throws -> CollectedResponse {
        let response = try await fetch(request)
        let retryAfter = RetryAfter.delay(in: response.fields, now: now)
        guard response.status == 200 else {
            throw PackError.refusal(response.status, of: request.url, retryAfter: retryAfter)
        }
        var body = Data()
        for try await part in response.body {
            // The length is checked here too, since an app's own fetcher may not check it.
            guard part.count <= request.maximumBodySize - body.count else {
                throw PackError.tooLarge(request.url, limit: request.maximumBodySize)
            }
            body.append(part)
        }
        guard !Task.isCancelled else { throw PackError.cancelled(request.url) }
        return CollectedResponse(fields: response.fields, url: response.url, body: body, retryAfter: retryAfter)
    }
}

/// The network interface of sources and downloads: one request, one response.
///
/// The default is ``URLSessionFetcher``; ``TransportFetcher`` sends through any transport. The fetcher follows redirects
/// itself, and the response has the final URL.
public protocol PackFetching: Sendable {
    /// Sends a request, and returns when the response's head has arrived.
    ///
    /// Every final status is a normal result. Cancelling the calling task, before the head has arrived or while the
    /// body is read, stops the traffic; so does dropping the response.
    ///
    /// - Throws: ``PackError`` with ``PackError/Code/network`` when no response arrived.
    func fetch(_ request: FetchRequest) async throws -> FetchedResponse
}
