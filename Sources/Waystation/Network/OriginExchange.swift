import Dispatch
import Synchronization
package import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// One exchange with the origin, by way of a transport.
///
/// The request is sent to its canonical URL, the one that rules match and responses are stored under: an origin may
/// treat two spellings of one address differently, and the answer to `/evil/%2e%2e/v2` must not be stored for `/v2`.
/// The response has the URL that the app wrote, as Foundation's responses do.
///
/// Each time the request is sent, it carries its whole body. If its connection is dropped before a response begins, an
/// idempotent request is sent once more: a server may close a kept-alive connection just when the next request
/// is sent (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
///
/// Before a final head is passed on, the data is removed that it demands to remove by `Clear-Site-Data`, and its cookies are
/// stored. That also holds for redirects, 304s and background renewals, from whichever transport they come. The cookies
/// of a request are chosen before, because the cache must know them.
final class OriginExchange: TransportExchange, TransportReceiver {
    private struct State: Downstream {
        var upstream = Upstream()
        /// The number of times that the request was sent.
        var sent = 0
        var hasBegun = false
        var mayRepeat: Bool
        var isCancelled = false
    }

    /// As it is sent, to its canonical URL.
    private let request: URLRequest
    /// The URL that the app wrote; nil if it is the canonical one.
    private let written: URL?
    private let transport: any Transport
    private let receiver: any TransportReceiver
    private let cookies: CookieStore?
    /// Taken before the request is sent: cookies that a response sets after a log-out are refused by it.
    ///
    /// It is nil if no cookies of the response are taken.
    private let moment: CookieStore.Moment?
    private let setCookies: SetCookies?
    private let siteData: SiteData?
    private let onHead: (@Sendable (ResponseHead) -> Void)?
    /// The span of the exchange; nil if loads are not traced.
    private let span: LoadSpan?
    private let state: Mutex<State>

    /// Sends a request, marked as the interceptor's own.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - transport: Performs the exchange.
    ///   - repeatsDropped: Whether an idempotent request is sent once more when its connection is dropped.
    ///   - cookies: The store that gets the response's cookies; nil without one.
    ///   - takesCookies: Whether the store gets them.
    ///   - setCookies: Puts them into the storage of the session's configuration; nil without one.
    ///   - siteData: The data that the response may remove; nil for none.
    ///   - receiver: Gets the response.
    ///   - span: The span of the load that needs the response; nil if loads are not traced.
    ///   - onHead: Called with the head before the receiver gets it.
    /// - Returns: The exchange, which can be cancelled.
    static func start(
        _ request: URLRequest,
        through transport: any Transport,
        repeatsDropped: Bool = true,
        cookies: CookieStore?,
        takesCookies: Bool = true,
        setCookies: SetCookies? = nil,
        siteData: SiteData? = nil,
        receiver: any TransportReceiver,
        under span: LoadSpan? = nil,
        onHead: (@Sendable (ResponseHead) -> Void)? = nil
    ) -> any TransportExchange {
        let exchange = OriginExchange(
            request,
            transport,
            repeatsDropped,
            cookies,
            takesCookies,
            setCookies,
            siteData,
            receiver,
            span,
            onHead
        )
        if let error = exchange.exhaustedBody { exchange.fail(error) } else { exchange.send() }
        return exchange
    }

    private init(
        _ request: URLRequest,
        _ transport: any Transport,
        _ repeatsDropped: Bool,
        _ cookies: CookieStore?,
        _ takesCookies: Bool,
        _ setCookies: SetCookies?,
        _ siteData: SiteData?,
        _ receiver: any TransportReceiver,
        _ span: LoadSpan?,
        _ onHead: (@Sendable (ResponseHead) -> Void)?
    ) {
        var sent = ForwardingTag.tagging(request)
        // A part of coded bytes cannot be decoded. The field is added here, and not earlier, because a cache must still
        // find a whole response that varies by it.
        if request.asksForRange { sent = sent.withoutCodings }
        if let url = request.url, let canonical = url.canonical, canonical != url {
            sent.url = canonical
            written = url
        } else {
            written = nil
        }
        self.span = span?.beginExchange(&sent)
        self.request = sent
        self.transport = transport
        self.receiver = receiver
        self.cookies = cookies
        self.onHead = onHead
        moment = takesCookies ? cookies?.moment() : nil
        self.setCookies = setCookies
        self.siteData = siteData
        let isIdempotent = Methods.isIdempotent(request.httpMethod ?? "GET")
        state = Mutex(State(mayRepeat: repeatsDropped && isIdempotent && request.isRepeatable))
    }

    /// The error of a request whose body was already read.
    private var exhaustedBody: URLError? {
        // A stream that was sent once and is not spooled has no bytes left, and a partial body must not be taken for a
        // whole one.
        guard !request.isRepeatable, let stream = request.httpBodyStream, stream.streamStatus != .notOpen else {
            return nil
        }
        return URLError(
            .requestBodyStreamExhausted,
            failing: request.url,
            """
            the body of \(request.url?.shown ?? "the request") is a stream that was already read: set bodySpool, \
            so that it can be sent again
            """
        )
    }

    private func fail(_ error: URLError) {
        _ = state.withLock { $0.upstream.end() }
        span?.end(error)
        // The caller must not get the end of an exchange before it has the exchange.
        DispatchQueue.global().async { [receiver] in receiver.transportDidEnd(error) }
    }

    private func send() {
        let (number, _): (Int?, Upstream.Left?) = state.withLock { state in
            guard !state.isCancelled else { return (nil, nil) }
            state.sent += 1
            return (state.sent, state.upstream.begin(state.sent))
        }
        guard let number else { return }
        let start = { self.transport.start(self.request.rewound, receiver: self) }
        // The moment was taken before: a log-out before that is detected here, and one after it refuses the response's
        // cookies.
        let started = if let cookies { cookies.sending(request, start) } else { start() }
        guard let exchange = started else { return fail(.loggedOut(request.url)) }
        state.take(exchange, number)
    }

    func pause() { state.pause(true) }
    func resume() { state.pause(false) }

    func cancel() {
        let left = state.withLock { state in
            state.isCancelled = true
            return state.upstream.leave(.cancelling)
        }
        left?.carryOut()
        span?.end(URLError(.cancelled))
    }

    // MARK: - Events of the transport

    func transportDidReceive(_ head: ResponseHead) {
        state.withLock { $0.hasBegun = true }
        // A transport delivers final heads only; one of the app's own may not keep to that.
        if !(100..<200).contains(head.statusCode) {
            let takesCookies = cookies == nil ? request.httpShouldHandleCookies : moment != nil
            siteData?.clear(by: head, to: request, takesCookies: takesCookies)
            if let moment { cookies?.take(head, to: request, sent: moment) }
            setCookies?.take(head, to: request)
        }
        span?.take(head)
        onHead?(head)
        receiver.transportDidReceive(written.map(head.with) ?? head)
    }

    func transportDidReceive(_ part: Data) { receiver.transportDidReceive(part) }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        receiver.transportDidSend(count, total: total, expected: expected)
    }

    func transportDidEnd(_ error: (any Error)?) {
        let (isRepeating, _): (Bool, Upstream.Left?) = state.withLock { state in
            let ended = state.upstream.end()
            guard let error, Self.isDropped(error), !state.hasBegun, state.mayRepeat, !state.isCancelled else {
                return (false, ended)
            }
            state.mayRepeat = false
            return (true, ended)
        }
        guard isRepeating else {
            span?.end(error)
            return receiver.transportDidEnd(error)
        }
        send()
    }

    /// Whether an error means that an established connection was closed.
    ///
    /// Foundation has no error code of its own for a connection that is closed before the first byte of a response.
    private static func isDropped(_ error: any Error) -> Bool {
        guard let error = error as? URLError else { return false }
        return error.code == .networkConnectionLost
            || (error.code == .badServerResponse && error.localizedDescription == "Empty reply from server")
    }
}

extension URLRequest {
    /// Whether the request has the field `Range`; Foundation's own look-up makes a lower-case copy of each name.
    fileprivate var asksForRange: Bool {
        allHTTPHeaderFields?.keys.contains { $0.equalsIgnoringCase("Range") } ?? false
    }
}

/// One challenge of a `WWW-Authenticate` field (RFC 9110 §11.6.1).
package struct AuthenticationChallengeField: Equatable, Sendable {
    /// The scheme, lower-case, such as `basic`.
    package var scheme: String
    /// The `realm` parameter, unquoted.
    package var realm: String?

    /// The challenges of a field value, in order.
    ///
    /// A part that cannot be parsed ends the list; it is not an error.
    package static func parse(_ value: String) -> [AuthenticationChallengeField] {
        var challenges: [AuthenticationChallengeField] = []
        for item in value.quotedListMembers {
            let word = item.utf8.prefix { !$0.isSpace && $0 != UInt8(ascii: "=") }
            guard !word.isEmpty else { break }
            let rest = item[word.endIndex...].utf8.trimmingSpace()
            // An element that starts with `name=` is one more parameter of the challenge before it; white space may
            // surround the equals sign (RFC 9110 §11.2).
            var parameter = FieldParameter(item)
            if rest.first != UInt8(ascii: "=") {
                let scheme = String(decoding: word.map(\.lowercased), as: UTF8.self)
                challenges.append(AuthenticationChallengeField(scheme: scheme, realm: nil))
                parameter = FieldParameter(Substring(rest))
            }
            guard let realm = parameter.value, parameter.name == "realm", !challenges.isEmpty else { continue }
            challenges[challenges.count - 1].realm = realm
        }
        return challenges
    }
}

extension URLProtectionSpace {
    /// The space for which a 401 asks credentials, if Foundation would ask its delegate about it.
    ///
    /// Foundation does so for Basic only. It does not support other schemes or ask about them; then the 401 is the
    /// answer.
    static func asked(by response: ResponseHead) -> URLProtectionSpace? {
        guard response.statusCode == 401, let field = response.value(forHTTPHeaderField: "WWW-Authenticate"),
            let challenge = AuthenticationChallengeField.parse(field).first(where: { $0.scheme == "basic" }),
            let url = response.url, let host = url.host, let scheme = url.scheme?.lowercased()
        else { return nil }
        return URLProtectionSpace(
            host: host,
            port: url.port ?? KnownScheme(scheme.utf8)?.defaultPort ?? 80,
            protocol: scheme,
            realm: challenge.realm,
            authenticationMethod: NSURLAuthenticationMethodHTTPBasic
        )
    }
}

/// How a refused request continues.
package enum ChallengeAnswer: Sendable {
    /// Send the request again with this `Authorization` field value.
    case retry(authorization: String, credential: URLCredential)
    /// The refusal is the answer.
    case complete
    /// The delegate cancelled: the load fails with `URLError.cancelled`.
    case cancel
}

extension ChallengeAnswer {
    /// Makes the next step from the delegate's answer, or from the default when there is no delegate.
    ///
    /// Only Basic can be answered: Foundation on Linux supports no other scheme, and ends the process when it gets one.
    init(
        _ disposition: URLSession.AuthChallengeDisposition,
        _ credential: URLCredential?,
        for challenge: URLAuthenticationChallenge
    ) {
        let chosen: URLCredential?
        switch disposition {
        case .useCredential: chosen = credential
        case .performDefaultHandling: chosen = challenge.proposedCredential
        case .rejectProtectionSpace, .cancelAuthenticationChallenge:
            self = .cancel
            return
        @unknown default: chosen = nil
        }
        guard let chosen, let user = chosen.user,
            challenge.protectionSpace.authenticationMethod == NSURLAuthenticationMethodHTTPBasic
        else {
            self = .complete
            return
        }
        let credentials = BasicCredentials(user: user, password: chosen.password ?? "")
        self = .retry(authorization: credentials.fieldValue, credential: chosen)
    }
}

/// A sender for challenges that are made here.
///
/// It does nothing: answers arrive through the delegate's completion handler.
final class ChallengeSender: NSObject, URLAuthenticationChallengeSender {
    func use(_ credential: URLCredential, for challenge: URLAuthenticationChallenge) {}
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) {}
    func cancel(_ challenge: URLAuthenticationChallenge) {}
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) {}
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) {}
}
