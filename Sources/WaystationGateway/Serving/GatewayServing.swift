#if Gateway
import Logging
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization
import Waystation
import WaystationHTTP
import WaystationFoundation
import WaystationNIO
import WaystationRecording

/// The parts that all connections of a gateway share.
final class GatewayServing: Sendable {
    let options: GatewayOptions
    let names: LocalNames
    let loads: ClientLoads
    let targets: TargetReader
    let requests: RequestTranslation
    /// Nil if the interceptor has no cookies of its own; then the browser keeps the cookies of the origins.
    let browsers: Browsers?
    /// Whether a rule takes a URL.
    private let isServed: @Sendable (String) -> Bool
    /// Nil if links stay as they are.
    private let rewriting: ResponseRewriting?
    /// The pages that the gateway shows under its own names, and those that it shows as a proxy.
    private let named: PageOrigin
    private let proxied: PageOrigin
    /// Nil unless ``GatewayOptions/inspector`` is set, and within TLS.
    let inspector: Inspector?
    private let heads: TranslatedHeads
    let repeated: RepeatedRequests
    /// Whether the log has the warning that the authority ends.
    private let hasWarnedOfEnd = Atomic(false)
    /// Lists the requests that are refused; nil unless ``GatewayOptions/inspector`` is set.
    private let observer: Inspector?

    init(
        _ loads: ClientLoads,
        cookies: CookieStore?,
        _ options: GatewayOptions,
        port: Int,
        makeInspector: (LocalNames) -> Inspector?
    ) {
        self.options = options
        self.loads = loads
        let names = LocalNames(port: port, hasInspector: options.inspector)
        self.names = names
        inspector = makeInspector(names)
        heads = TranslatedHeads()
        repeated = RepeatedRequests()
        observer = inspector
        targets = TargetReader(names: names, isProxy: options.isProxy)
        requests = RequestTranslation(
            names: names,
            silenceBetweenEvents: options.tunnelTimeout / Duration.seconds(1),
            passesForwardedFields: options.passesForwardedFields
        )
        browsers = cookies.map { Browsers($0, loads) }
        isServed = { url in URL(string: url).map { loads.claims(URLRequest(url: $0)) } ?? false }
        rewriting = options.rewritesLinks ? ResponseRewriting(names: names, isServed: isServed) : nil
        // Without a store, the browser chooses the cookies.
        let isSameSite = { @Sendable (first: URL, second: URL) in cookies?.isSameSite(first, second) ?? true }
        named = PageOrigin(
            remote: { page, _ in names.remote(page).flatMap { URL(string: $0) } },
            isSameSite: isSameSite
        )
        // `Origin` names no path, and a rule may take only some paths of a host.
        proxied = PageOrigin(
            remote: { page, target in
                guard let page = URL(string: page) else { return nil }
                return page.hasSameOrigin(as: target) || loads.servesOrigin(of: page) ? page : nil
            },
            isSameSite: isSameSite
        )
    }

    /// The same parts, for a connection over TLS on which all requests are for one origin.
    init(_ other: GatewayServing, securedFor origin: OriginName) {
        options = other.options
        loads = other.loads
        names = other.names
        targets = TargetReader(
            names: other.names,
            isProxy: other.targets.isProxy,
            loopMark: other.targets.loopMark,
            secured: origin
        )
        requests = other.requests
        browsers = other.browsers
        named = other.named
        proxied = other.proxied
        isServed = other.isServed
        inspector = nil
        heads = other.heads
        repeated = other.repeated
        observer = other.observer
        // Within TLS, links lead to the gateway as they are.
        rewriting = nil
    }

    /// A request that passed all checks of its head.
    struct Accepted: Sendable {
        var request: URLRequest
        let origin: OriginName?
        let arrival: Browsers.Arrival?
    }

    /// Checks a request for a resource, and makes the request to its origin.
    func accept(_ head: HTTPRequestHead, for target: RequestTarget) throws(Refusal) -> Accepted {
        guard let url = target.url else { throw .badRequest("CONNECT has no resource (RFC 9110 §9.3.6)") }
        var request = requests.request(head, for: url)
        if mayComeBack(url) { targets.loopMark.add(to: &request) }
        guard case .named(_, let origin) = target else {
            request.mainDocumentURL = try proxied.document(of: head, for: url)
            try check(request)
            // The store's cookies are sent, and those of the browser are not mixed with them.
            if browsers != nil { request.setValue(nil, forHTTPHeaderField: "Cookie") }
            return Accepted(request: request, origin: nil, arrival: nil)
        }
        guard !leadsBack(origin) else { throw .loop }
        request.mainDocumentURL = try named.document(of: head, for: url)
        if rewriting != nil {
            for name in ResponseRewriting.conditions(of: head) { request.setValue(nil, forHTTPHeaderField: name) }
        }
        try check(request)
        guard let browsers else { return Accepted(request: request, origin: origin, arrival: nil) }
        let pairs = request.value(forHTTPHeaderField: "Cookie").map { CookiePairs($0).pairs } ?? []
        request.setValue(nil, forHTTPHeaderField: "Cookie")
        let arrival = browsers.arrival(pairs, at: url, of: origin, isComplete: head.hasAllCookies)
        return Accepted(request: request, origin: origin, arrival: arrival)
    }

    /// Opens the connections of web sockets and tunnels: by the app's engine if it can, so that its options apply.
    var opener: ConnectionOpener { (loads.engine as? NIOTransport)?.opener ?? Self.opener }

    private static let opener = NIOTransport(configuration: .ephemeral).opener

    private func check(_ request: URLRequest) throws(Refusal) {
        guard options.forwardsUnclaimed || loads.claims(request) else {
            throw .unclaimed(request.url?.absoluteString ?? "")
        }
    }

    /// Whether an origin is the gateway itself.
    private func leadsBack(_ origin: OriginName) -> Bool {
        guard origin.scheme == "http", origin.effectivePort == names.port else { return false }
        return LoopbackHosts.contain(origin.host)
    }

    /// Whether a request to the network might reach the gateway again, because its environment names it as the proxy.
    private func mayComeBack(_ url: URL) -> Bool {
        // An engine that is made only now may know other proxies: then the request is recognised when it comes back
        // for the second time.
        let opener = (loads.madeEngine as? NIOTransport)?.opener ?? Self.opener
        guard opener.mayBeProxied(byPort: names.port), let host = url.host() else { return false }
        let isSecure = url.scheme == "https"
        let port = url.port ?? (isSecure ? KnownScheme.https : .http).defaultPort
        guard opener.mayBeProxied(host, port: port, isSecure: isSecure, byPort: names.port) else { return false }
        // Over TLS, the gateway passes on the bytes of other hosts as they are.
        return !isSecure || options.authority?.certifies(host, port: port) == true
    }

    /// A request was refused before its load began.
    func didRefuse(_ head: HTTPRequestHead, because refusal: Refusal) {
        let isSecured = targets.secured != nil
        let redaction = Redaction.standard
        options.logger.debug(
            """
            \(head.method.rawValue) \(redaction.url(head.target(isSecured: isSecured))) refused with \
            \(refusal.status): \(redaction.text(refusal.message))
            """
        )
        observer?.didRefuse(head, isSecured: isSecured, because: refusal)
    }

    /// The head of a response for the client.
    ///
    /// - Parameters:
    ///   - response: The response of the load.
    ///   - accepted: The request.
    ///   - request: The head of the request.
    /// - Returns: The head, its framing, and the rewriter of the body's links; nil if the body stays as it is.
    func head(
        _ response: ResponseHead,
        to accepted: Accepted,
        _ request: HTTPRequestHead
    ) -> (HTTPResponseHead, ResponseFraming, BodyRewriter?) {
        let (method, version) = (request.method, request.version)
        let isNamed = accepted.origin != nil
        let translated = heads.head(of: response, isNamed: isNamed) { translate(response, isNamed: isNamed) }
        var headers = translated.headers
        let rewriter = accepted.origin.flatMap {
            rewriting?.rewriter(status: response.statusCode, headers, of: $0)
        }
        if rewriter != nil { ResponseRewriting.adapt(&headers) }
        let length = rewriter == nil ? translated.length : nil
        for field in cookies(translated.setCookies, to: accepted) { headers.add(name: "Set-Cookie", value: field) }
        let framing = ResponseFraming.of(
            method,
            version,
            status: response.statusCode,
            length: length
        )
        switch framing {
        case .length(let length): headers.add(name: "Content-Length", value: "\(length)")
        case .none:
            if method == .HEAD, let length {
                headers.add(name: "Content-Length", value: "\(length)")
            }
        case .chunked: headers.add(name: "Transfer-Encoding", value: "chunked")
        case .close: headers.add(name: "Connection", value: "close")
        }
        let status = HTTPResponseStatus(statusCode: response.statusCode)
        return (HTTPResponseHead(version: version, status: status, headers: headers), framing, rewriter)
    }

    private func translate(_ facts: ResponseHead, isNamed: Bool) -> TranslatedHead {
        let status = facts.ownStatus
        let isHit = status?.utf8.starts(with: "Waystation; hit".utf8) ?? false
        let page = facts.url.flatMap { names.split($0.absoluteString)?.origin }
        let links = Links(names: names, scheme: page?.scheme ?? "https", page: page, isServed: isServed)
        let translation = ResponseTranslation(links: links, isNamed: isNamed, rewritesLinks: rewriting != nil)
        var headers = translation.fields(facts.rawFields, isCoded: facts.isCoded)
        if !headers.contains(name: "Cache-Control"), isHit || status?.hasNoForwardedStatus ?? false {
            // The browser asks again each time, so that it shows the next version of a pack at once.
            headers.add(name: "Cache-Control", value: "no-cache")
        }
        if browsers != nil, facts.variesByCookie {
            // The browser lacks cookies that the response depends on, so only the gateway can choose it.
            headers.replaceOrAdd(name: "Cache-Control", value: "no-cache")
        }
        return TranslatedHead(
            headers: headers,
            length: facts.statedLength,
            setCookies: facts.setCookies,
            isHit: isHit
        )
    }

    private func cookies(_ fields: [String], to accepted: Accepted) -> [String] {
        if let browsers { return accepted.arrival.map { browsers.fields(for: $0) } ?? [] }
        guard let origin = accepted.origin else { return fields }
        return fields.compactMap { LocalSetCookie.local($0, of: origin) }
    }
}

extension ResponseHead {
    fileprivate var variesByCookie: Bool {
        value(forHTTPHeaderField: "Vary")?.lowercased().contains("cookie") ?? false
    }

    /// The member of `Cache-Status` that says how Waystation has answered.
    fileprivate var ownStatus: Substring? {
        value(forHTTPHeaderField: "Cache-Status").flatMap { OwnCacheStatus.member(of: $0) }
    }
}

extension Substring {
    /// Whether a stored response is the answer because the network gave none: `fwd-status` does not follow `fwd`.
    fileprivate var hasNoForwardedStatus: Bool {
        let parameters = utf8.split(separator: UInt8(ascii: ";"), maxSplits: 2).dropFirst(2)
        return !(parameters.first?.starts(with: " fwd-status=".utf8) ?? false)
    }
}

extension GatewayServing {
    /// The response to a request whose bytes have arrived before; nil if it must be parsed.
    ///
    /// The load has ended then, and the response is to be written.
    func repeatedResponse(to request: ByteBuffer) -> ByteBuffer? {
        let key = RepeatedRequests.Key(request: request, origin: targets.secured)
        guard let entry = repeated.entry(of: key) else { return nil }
        if loads.repeats(entry.load) { return entry.response }
        repeated.remove(key)
        return nil
    }

    /// Remembers a load that was answered at once, if the same bytes get the same response from the same answer.
    ///
    /// - Parameters:
    ///   - load: The load.
    ///   - accepted: The request.
    ///   - head: Its head.
    ///   - arrived: Its bytes.
    func remember(_ load: AnsweredLoad, _ accepted: Accepted, _ head: HTTPRequestHead, as arrived: ByteBuffer) {
        // The cookies of a browser and those of the app are compared with each request.
        guard browsers == nil, load.mayBeRepeated, loads.hasLastingRules,
            arrived.readableBytes <= RepeatedRequests.requestLimit, load.body.count <= RepeatedRequests.responseLimit
        else { return }
        let (response, framing, rewriter) = self.head(load.head, to: accepted, head)
        let isWhole =
            switch framing {
            case .none: true
            case .length(let length): length == load.body.count
            case .chunked, .close: false
            }
        guard isWhole, rewriter == nil, load.head.statusCode >= 200 else { return }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(1_024 + load.body.count)
        bytes.write(response.saying(closes: false))
        if framing != .none { bytes.writeBytes(load.body) }
        repeated.add(
            RepeatedRequests.Entry(load: load, response: bytes),
            // A copy, because the buffer of the socket is longer.
            for: RepeatedRequests.Key(request: ByteBuffer(bytes: arrived.readableBytesView), origin: targets.secured)
        )
    }
}

extension GatewayServing {
    /// The parts of a connection that the gateway answers over TLS.
    struct Secured: Sendable {
        let context: NIOSSLContext
        let serving: GatewayServing
    }

    /// Decides what becomes of a client's `CONNECT`.
    ///
    /// - Returns: The parts for answering it with the authority's certificate; nil if the connection is to be a tunnel,
    ///   because the authority makes no certificates for the host.
    /// - Throws: A refusal, if the authority has expired, or if the rules block every URL at the host and port.
    func securing(_ host: String, port: Int, now: Date) throws(Refusal) -> Secured? {
        guard let authority = options.authority, authority.certifies(host, port: port),
            let origin = OriginName(scheme: "https", host: host, port: port)
        else {
            try checkTunnel(to: host, port: port)
            return nil
        }
        warn(about: authority, now: now)
        do {
            return Secured(
                context: try authority.context(for: origin.host, now: now),
                serving: GatewayServing(self, securedFor: origin)
            )
        } catch { throw .noCertificate(origin.host, error) }
    }

    /// Refuses a tunnel if the rules block all that a client could ask for within it.
    ///
    /// At a port that is neither that of https nor that of http, a client may speak either. If one of them is blocked,
    /// the tunnel is refused, unless a rule names the other one's origin.
    private func checkTunnel(to host: String, port: Int) throws(Refusal) {
        let authority = String(host: host, port: port)
        let schemes = ["https", "http"].filter { scheme in
            OriginName.standardPort(of: scheme) == port || (port != 443 && port != 80)
        }
        let origins = schemes.compactMap { URL(string: "\($0)://\(authority)/") }
        guard origins.contains(where: loads.blocksOrigin), !origins.contains(where: loads.servesOrigin) else { return }
        throw .blockedTunnel(authority)
    }

    /// Logs once that the authority is about to end, or has ended: a gateway that runs for weeks does not renew it.
    private func warn(about authority: CertificateAuthority, now: Date) {
        guard authority.expires.timeIntervalSince(now) < StoredAuthority.margin,
            !hasWarnedOfEnd.exchange(true, ordering: .relaxed)
        else { return }
        options.logger.warning(
            """
            the gateway's authority is valid only until \(authority.expires): open it again and start the gateway \
            anew, so that a new authority is made, and install that one in the browsers
            """
        )
    }
}

/// The part of the head of a response that is the same for every request by the same kind of name.
struct TranslatedHead: Sendable {
    var headers: HTTPHeaders
    /// The number of bytes of the body; nil if the fields do not state it.
    let length: Int?
    /// The origin's `Set-Cookie` fields, which the headers do not contain.
    let setCookies: [String]
    /// Whether the response was answered without the network.
    let isHit: Bool
}

/// The heads of the responses that were answered without the network and translated last.
///
/// A file, and a stored response in memory, answers many requests with the same head. To translate its fields takes
/// longer than to find it.
final class TranslatedHeads: Sendable {
    /// When there are more, all are dropped.
    private static let limit = 256

    private struct Key: Hashable {
        let response: ObjectIdentifier
        let isNamed: Bool
    }

    /// The heads are kept, so that no other one gets the identifier of a key.
    private let heads = Mutex<[Key: (response: ResponseHead, head: TranslatedHead)]>([:])

    /// The head of a response.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - isNamed: Whether the browser asked by the gateway's name of the origin.
    ///   - translate: Makes the translated head if none is remembered for the response.
    /// - Returns: The head.
    func head(of response: ResponseHead, isNamed: Bool, _ translate: () -> TranslatedHead) -> TranslatedHead {
        let key = Key(response: ObjectIdentifier(response.identity), isNamed: isNamed)
        if let known = heads.withLock({ $0[key]?.head }) { return known }
        let head = translate()
        guard head.isHit else { return head }
        heads.withLock { heads in
            if heads.count >= Self.limit { heads.removeAll(keepingCapacity: true) }
            heads[key] = (response, head)
        }
        return head
    }
}
#endif
