import Synchronization
package import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The network behind one intercepted configuration: a transport made with the first request that needs it.
final class Network: Sendable {
    private struct Settings: @unchecked Sendable {
        // `@unchecked`: a private copy of a configuration that is never changed any more.
        let configuration: URLSessionConfiguration
        /// The fields that the configuration adds to every request, by field name.
        let additional: [String: String]
    }

    private struct Made {
        var transport: (any Transport)?
        /// Carries the requests that the transport cannot carry, and those that a protocol class of the app's takes.
        var foundation: URLSessionTransport?
    }

    private let settings: Settings
    private let backlog: LoadBacklog
    private let makeTransport: @Sendable (URLSessionConfiguration) -> any Transport
    private let made = Mutex(Made())
    /// The cookies of the requests; nil when Foundation chooses them.
    let cookies: SessionCookies?
    /// The cookies of the configuration's storage, for the requests after the first one of a load; none if ``cookies``
    /// chooses them.
    let cookieField: CookieField
    /// Stores the cookies of responses in the configuration's storage; it has none if ``cookies`` takes them.
    private let setCookies: SetCookies
    /// The data of sites that responses may remove.
    let siteData: SiteData
    /// Whether an engine is used beside protocol classes of the app's own configuration, which only Foundation can use.
    private let asksClasses: Bool

    /// The network of a configuration.
    ///
    /// - Parameters:
    ///   - configuration: The app's own configuration, which is copied.
    ///   - cookies: The cookies of its requests; nil when Foundation chooses them.
    ///   - asksClasses: Whether requests that a protocol class of the configuration takes do not reach the transport.
    ///   - backlog: Counts the bytes that wait in the loads of the interceptor.
    ///   - clearCache: Removes the stored responses of an origin; nil without a cache.
    ///   - makeTransport: Makes the transport for the copy, which has no cookie storage.
    init(
        _ configuration: URLSessionConfiguration,
        cookies: SessionCookies?,
        asksClasses: Bool,
        backlog: LoadBacklog,
        clearCache: (@Sendable (_ origin: String) -> Void)? = nil,
        makeTransport: @escaping @Sendable (URLSessionConfiguration) -> any Transport
    ) {
        let own = (configuration.copy() as? URLSessionConfiguration) ?? .default
        let additional = configuration.additionalFields
        // A session adds these fields to every request, also to one after a redirect to another origin. Credentials are
        // therefore put on the app's own request instead, and are sent to its origin only.
        if !additional.isEmpty {
            own.httpAdditionalHeaders = additional.filter { !CredentialFields.contains($0.key) }
        }
        self.cookies = cookies
        if cookies != nil { own.httpCookieStorage = nil }
        cookieField = CookieField(own)
        setCookies = SetCookies(own)
        siteData = SiteData(store: cookies?.store, storage: setCookies, clearCache: clearCache)
        // A transport adds no cookies to a request, because its response is stored under those that the cache was shown.
        // It stores none either: each exchange does that, once, whichever transport it has.
        own.httpCookieStorage = nil
        own.httpShouldSetCookies = false
        own.httpCookieAcceptPolicy = .never
        self.asksClasses = asksClasses && (own.protocolClasses ?? []).contains { !Network.isFoundations($0) }
        settings = Settings(configuration: own, additional: additional)
        self.makeTransport = makeTransport
        self.backlog = backlog
    }

    /// Runs work that sends a request: at once if the transport may be started on any queue, else on a global one.
    ///
    /// Making a task of a `URLSession` on the loading queue would kill the process.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - transport: The transport of the request's rule; nil for that of the network.
    ///   - work: The work.
    func leavingQueue(
        for request: URLRequest,
        to transport: (any Transport)? = nil,
        _ work: @escaping @Sendable () -> Void
    ) {
        if let transport, transport.startsOnAnyQueue { return work() }
        // The first request makes the transport, which may take long, and a class of the app's is code of the app's.
        if transport == nil, !asksClasses, let engine = made.withLock({ $0.transport }), engine.startsOnAnyQueue,
            engine.canCarry(request)
        {
            return work()
        }
        DispatchQueue.global().async(execute: work)
    }

    /// Runs work that sends a request as soon as its body can be sent: at once, unless the body is still arriving and its
    /// transport needs the whole body.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - transport: The transport of the request's rule; nil for that of the network.
    ///   - work: The work.
    func whenSendable(
        _ request: URLRequest,
        through transport: (any Transport)? = nil,
        _ work: @escaping @Sendable () -> Void
    ) {
        guard let body = request.httpBodyStream as? any RewindableStream, !body.isWhole,
            !((transport ?? network(for: request)) is any BodyAwaitingTransport)
        else { return work() }
        body.whenWhole { DispatchQueue.global().async(execute: work) }
    }

    /// Sends a request to the origin.
    ///
    /// Call this function within ``leavingQueue(for:_:)``.
    ///
    /// - Parameters:
    ///   - request: The request, which gets the mark of forwarded requests.
    ///   - own: The transport of the request's rule, whose errors are final; nil for that of the network.
    ///   - receiver: Gets the response.
    ///   - span: The span of the load that needs the response; nil if loads are not traced.
    ///   - onHead: Called with the head before the receiver gets it.
    /// - Returns: The exchange, which can be cancelled.
    func send(
        _ request: URLRequest,
        through own: (any Transport)? = nil,
        for receiver: any TransportReceiver,
        under span: LoadSpan? = nil,
        onHead: (@Sendable (ResponseHead) -> Void)? = nil
    ) -> any TransportExchange {
        let transport: any Transport =
            if let layer = own as? any TransportLayer {
                layer.over(network(for: request))
            } else {
                own ?? network(for: request)
            }
        return OriginExchange.start(
            request,
            through: transport,
            repeatsDropped: own == nil,
            cookies: cookies?.store,
            takesCookies: cookies?.areTaken(for: request) ?? false,
            setCookies: setCookies,
            siteData: siteData,
            receiver: receiver,
            under: span,
            onHead: onHead
        )
    }

    private func network(for request: URLRequest) -> any Transport {
        let engine = engine
        guard engine.canCarry(request) else { return foundation }
        return asksClasses ? EngineBesideClasses(engine: engine, network: self) : engine
    }

    /// The transport for a request as it is sent: Foundation's if a protocol class of the app's own configuration takes
    /// the request.
    ///
    /// The classes are asked in their order, as a session asks them: those behind Foundation's own class for HTTP get no
    /// request.
    fileprivate func transport(beside engine: any Transport, for request: URLRequest) -> any Transport {
        guard let first = loader(for: request, of: settings.configuration), !Self.isFoundations(first) else {
            return engine
        }
        return foundation
    }

    private static func isFoundations(_ protocolClass: AnyClass) -> Bool {
        String(reflecting: protocolClass).hasPrefix("FoundationNetworking.")
    }

    /// The transport; the same for the whole life of the network.
    var engine: any Transport {
        if let transport = made.withLock({ $0.transport }) { return transport }
        // The transport is made outside the lock, because the app's code makes it. If two threads make a transport at
        // once, the first one to be stored is used.
        let transport = makeTransport(settings.configuration)
        (transport as? URLSessionTransport)?.keepPace { [backlog] in backlog.pressure }
        return made.withLock { made in
            let first = made.transport ?? transport
            made.transport = first
            return first
        }
    }

    /// The transport if it was made before.
    var madeEngine: (any Transport)? { made.withLock { $0.transport } }

    /// Foundation's transport, for the requests that ``engine`` cannot carry.
    private var foundation: any Transport {
        if let foundation = made.withLock({ $0.foundation }) { return foundation }
        // The transport is made outside the lock, which loads take on the loading queue.
        let foundation = URLSessionTransport(configuration: settings.configuration)
        foundation.keepPace { [backlog] in backlog.pressure }
        return made.withLock { made in
            let first = made.foundation ?? foundation
            made.foundation = first
            return first
        }
    }

    /// The request with the fields that its session would add to it.
    ///
    /// Credentials among them decide about the request's part of the cache, and `Vary` may name others.
    func completing(_ request: URLRequest) -> URLRequest {
        let missing = settings.additional.filter { request.value(forHTTPHeaderField: $0.key) == nil }
        guard !missing.isEmpty else { return request }
        var request = request
        // Setting a single field would spell its name anew, and a session sends the names as the app spelled them.
        request.allHTTPHeaderFields = (request.allHTTPHeaderFields ?? [:]).merging(missing) { own, _ in own }
        return request
    }

    /// How long a request may be silent, in seconds: its own limit if it has one, otherwise its session's limit.
    func timeout(of request: URLRequest) -> TimeInterval {
        request.hasTimeoutInterval ? request.timeoutInterval : settings.configuration.timeoutIntervalForRequest
    }

    /// The storage in which credentials for challenges are looked up.
    var credentials: URLCredentialStorage? { settings.configuration.urlCredentialStorage }

    /// The cache that the app itself set in its configuration.
    var urlCache: URLCache? { settings.configuration.urlCache }

    /// The class that loads a request that is handed back: the next matching class of the app's own configuration.
    ///
    /// If that has none, Foundation's own classes load the request, as they do for a plain session.
    func loader(for request: URLRequest) -> URLProtocol.Type? {
        loader(for: request, of: settings.configuration) ?? loader(for: request, of: .default)
    }

    private func loader(for request: URLRequest, of configuration: URLSessionConfiguration) -> URLProtocol.Type? {
        (configuration.protocolClasses ?? []).lazy
            .compactMap { $0 as? URLProtocol.Type }
            .first { $0.canInit(with: request) }
    }
}

/// An engine, in whose place Foundation's loader carries the requests that protocol classes of the app's own take.
///
/// The classes are asked with each request that is sent, as it is sent.
private struct EngineBesideClasses: Transport {
    let engine: any Transport
    let network: Network

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        network.transport(beside: engine, for: request).start(request, receiver: receiver)
    }
}

/// A transport of a rule that sends requests on by the network of their session, such as one with faults.
package protocol TransportLayer: Transport {
    /// The transport that sends requests by this network.
    func over(_ network: any Transport) -> any Transport
}

/// The bytes that have arrived for the loads of an interceptor, and wait for their tasks or for the cache to write
/// them.
///
/// Bytes of a suspended task do not count. It may stay suspended for long, and slowing the network down for it would
/// slow all other loads down.
final class LoadBacklog: Sendable {
    private let count = Atomic(0)
    private let store: ResponseStore?

    /// Makes a backlog in which no bytes wait for a task.
    ///
    /// - Parameter store: The store of the responses; bytes that wait there for the disk count too.
    init(storingIn store: ResponseStore?) { self.store = store }

    /// The bytes that wait for their tasks.
    var bytesForTasks: Int { count.load(ordering: .relaxed) }

    /// The bytes that make the network wait: those for the disk count four times, because a kill of the process loses them.
    var pressure: Int { bytesForTasks + 4 * (store?.unwrittenBytes ?? 0) }

    func change(by difference: Int) {
        if difference != 0 { count.add(difference, ordering: .relaxed) }
    }
}

/// A transport of a rule that has whole responses in memory, for which a load needs no exchange.
package protocol ResidentTransport: Transport {
    /// Returns the response to a request, if it is in memory.
    ///
    /// A request that gets a response is not started, so the transport counts it here. The function is called on the
    /// loading queue: it must not wait, and must not call code of the app.
    ///
    /// - Parameter request: The request, as it would be sent; its body is no stream.
    /// - Returns: The response; nil if the request must be started.
    func residentResponse(to request: URLRequest) -> ResidentResponse?
}

/// A whole response in memory, after which its load ends.
package struct ResidentResponse: Sendable {
    private let head: ResponseHead
    package let body: Data

    /// Makes a response; nil for one that needs an exchange: a redirect, a request for credentials, or one that sets
    /// cookies or removes data of its site, because that may wait for the disk.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - body: The body, without codings.
    ///   - isMade: Whether Foundation's response is made now, because one load with the URL of the head is expected.
    package init?(_ head: ResponseHead, _ body: Data, isMade: Bool = false) {
        guard head.statusCode != 401, !RedirectPolicy.statuses.contains(head.statusCode),
            head.value(forHTTPHeaderField: "Set-Cookie") == nil,
            head.value(forHTTPHeaderField: ClearSiteData.field) == nil
        else { return nil }
        self.head = head.adding(CacheStatus(.forwarded(.bypass, status: head.statusCode)))
        self.body = body
        if isMade { _ = self.head.response }
    }

    /// The head for a URL.
    func head(for url: URL) -> ResponseHead { head.url?.absoluteString == url.absoluteString ? head : head.with(url) }
}

/// The data of sites that responses from the network may remove by `Clear-Site-Data`.
///
/// Only a response over a secure connection may: any other one may have been changed on its way. Whether `http` to this
/// machine counts as secure is decided by the rules for cookies.
struct SiteData: Sendable {
    /// The interceptor's store of cookies; nil without one.
    let store: CookieStore?
    /// The cookies of the configuration's own storage.
    let storage: SetCookies
    /// Removes the stored responses of an origin; nil without a cache.
    let clearCache: (@Sendable (_ origin: String) -> Void)?

    /// Removes what the head of a final response demands.
    ///
    /// Call it before the cookies of the head are stored: a response may remove the cookies of a site and set new ones.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - request: The request that it answers, to its canonical URL.
    ///   - takesCookies: Whether responses to the request may change cookies.
    func clear(by head: ResponseHead, to request: URLRequest, takesCookies: Bool) {
        guard let value = head.rawValue(forHTTPHeaderField: ClearSiteData.field), let url = request.url,
            let demand = ClearSiteData(value), isTrustworthy(url)
        else { return }
        if demand.cookies, takesCookies {
            store?.clear(siteOf: url)
            storage.clear(siteOf: url, keepingThoseOf: head)
        }
        if demand.cache, let origin = CanonicalURL(url.absoluteString)?.origin { clearCache?(origin) }
    }

    private func isTrustworthy(_ url: URL) -> Bool {
        store?.sendsSecureCookies(to: url) ?? CookieRules().isSecure(url)
    }
}
