#if Gateway
import NIOCore
import NIOHTTP1
import Waystation
import WaystationHTTP
import WaystationFoundation

/// An answer that the gateway gives by itself, because it does not serve a request.
struct Refusal: Error, Equatable, Sendable {
    let status: Int
    /// The problem and its remedy, shown to the user of the browser.
    let message: String
    /// Whether the connection is closed, because the rest of the request is not read.
    var closes = false

    /// The methods that requests for a resource may have, for the field that a 405 must have (RFC 9110 §15.5.6).
    static let methods = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"

    static func badRequest(_ message: String) -> Refusal { Refusal(status: 400, message: message, closes: true) }

    /// The answer to bytes that are not a request of HTTP/1.1, or whose head is too large.
    static func unreadable(_ error: any Error) -> Refusal {
        switch error as? HTTPParserError {
        case .headerOverflow:
            Refusal(
                status: 431,
                message: "The head of the request is longer than the gateway takes, or one of its fields is.",
                closes: true
            )
        // The parser stops at the preface of HTTP/2 (RFC 9113 §3.4).
        case .paused: .badRequest("the client speaks HTTP/2; the gateway speaks HTTP/1.1 and HTTP/1.0")
        default: .badRequest("the bytes are not a request of HTTP/1.1 (RFC 9112): \(error)")
        }
    }

    /// - Parameters:
    ///   - host: The value of the `Host` field.
    ///   - port: The gateway's port.
    ///   - meant: The URL of the gateway that the client probably means; nil if none is known.
    /// - Returns: The refusal.
    static func misdirected(_ host: String, port: Int, meant: String?) -> Refusal {
        let example = """
            The gateway stands for https://shop.example, for example, under the name \
            http://shop-example.localhost:\(port)/.
            """
        return Refusal(
            status: 421,
            message: """
                The gateway does not stand for “\(host.shown(upTo: 200))”. \
                \(meant.map { "The gateway's name of this origin is \($0)" } ?? example)
                """,
            closes: true
        )
    }

    static let noProxy = Refusal(
        status: 405,
        message: """
            The gateway is not a proxy. Set GatewayOptions.isProxy (`proxy` in a rules file) to make the gateway a proxy.
            """,
        closes: true
    )

    static func unsupportedMethod(_ method: String) -> Refusal {
        Refusal(status: 405, message: "The gateway does not pass on requests with the method \(method).", closes: true)
    }

    static func unknownExpectation(_ value: String) -> Refusal {
        Refusal(
            status: 417,
            message: "The gateway supports only the expectation 100-continue; this request has “\(value.shown())”.",
            closes: true
        )
    }

    static func unknownCoding(_ value: String) -> Refusal {
        Refusal(
            status: 501,
            message: "The gateway supports only the transfer coding chunked; this request has “\(value.shown())”.",
            closes: true
        )
    }

    static func otherHost(_ host: String, than origin: String) -> Refusal {
        Refusal(
            status: 421,
            message: "This connection is for \(origin); the request is for “\(host.shown(upTo: 200))”.",
            closes: true
        )
    }

    static func noCertificate(_ host: String, _ error: any Error) -> Refusal {
        let reason = (error as? any CodedError)?.message ?? "\(error)"
        return Refusal(
            status: 502,
            message: "There is no certificate for \(host.shown(upTo: 253)): \(reason)",
            closes: true
        )
    }

    static let bodyTooLarge = Refusal(
        status: 413,
        message: """
            The body of the request has more bytes than GatewayOptions.maximumBody (`maximum-body` in a rules file) allows.
            """,
        closes: true
    )

    static let bodyNotStored = Refusal(
        status: 507,
        message: "The body of the request cannot be stored in the directory of GatewayOptions.bodySpool.",
        closes: true
    )

    static func interim(_ status: Int) -> Refusal {
        Refusal(status: 502, message: "The origin answered with the status \(status), and no final response followed.")
    }

    static let tooSlow = Refusal(
        status: 408,
        message: "The request did not arrive within the time that the gateway waits for one.",
        closes: true
    )

    static let loop = Refusal(
        status: 508,
        message: "The origin of the request is the gateway itself."
    )

    static func ownProxy(_ host: String, isSecure: Bool) -> Refusal {
        Refusal(
            status: 508,
            message: """
                The gateway has sent this request to itself: it is the proxy that `\(isSecure ? "https" : "http")_proxy` \
                or `all_proxy` names in its own environment. Start the gateway without the variable, or list \
                \(host.shown(upTo: 253)) in `no_proxy`.
                """,
            closes: isSecure
        )
    }

    static let stopping = Refusal(status: 503, message: "The gateway is being stopped.", closes: true)

    static func unclaimed(_ url: String) -> Refusal {
        Refusal(
            status: 403,
            message: """
                No rule takes \(SecretNames.standard.url(url).prefix(2_000)). Add a rule for the URL, or set GatewayOptions.forwardsUnclaimed \
                (`forwards-unclaimed` in a rules file) to send such requests to the network.
                """
        )
    }

    static func blockedTunnel(_ authority: String) -> Refusal {
        Refusal(status: 403, message: "A rule blocks every URL at \(authority.prefix(300)).", closes: true)
    }

    static func bodyOfMethod(_ method: String) -> Refusal {
        .badRequest("a \(method) request has no body at this gateway; send the body with POST or PUT (RFC 9110 §9.3.1)")
    }

    static func tunnelFailed(_ authority: String, _ reason: String) -> Refusal {
        Refusal(status: 502, message: "No connection to \(authority): \(reason)", closes: true)
    }
}

extension Refusal {
    /// The answer for a load that failed before its response began.
    ///
    /// - Parameters:
    ///   - error: The error of the load.
    ///   - url: The URL of the request.
    init(_ error: any Error, for url: URL?) {
        let error = (error as? URLError) ?? URLError(.unknown)
        let cause = error.userInfo[NSUnderlyingErrorKey] as? WaystationError
        let name = url.map { SecretNames.standard.url($0.absoluteString).prefix(2_000) } ?? "the request"
        let reason = cause?.message ?? error.localizedDescription
        let status =
            switch (cause?.code, error.code) {
            case (.blocked, _), (.loginOutOfDomain, _): 403
            case (.notFound, _): 404
            case (.invalidHeaderBody, _): 400
            case (.headerBodyTooLarge, _): 413
            case (.notStored, _): 504
            case (_, .timedOut): 504
            case (_, .userAuthenticationRequired): 401
            case (_, .notConnectedToInternet), (_, .cancelled): 503
            default: 502
            }
        self.init(status: status, message: "\(name) cannot be loaded: \(reason)")
    }
}

extension RecordedExchange {
    /// A request that the gateway refused, as far as its target can be written as a URL.
    ///
    /// - Parameters:
    ///   - refusal: The refusal.
    ///   - head: The head of the request.
    ///   - isSecured: Whether the request arrived over TLS.
    ///   - time: The time of the refusal.
    init?(_ refusal: Refusal, to head: HTTPRequestHead, isSecured: Bool, at time: Date) {
        guard let url = URL(string: head.target(isSecured: isSecured)),
            let response = HTTPURLResponse(
                url: url,
                statusCode: refusal.status,
                httpVersion: "HTTP/1.1",
                headerFields: [:]
            )
        else { return nil }
        var request = URLRequest(url: url)
        request.httpMethod = head.method.rawValue
        for (name, value) in head.headers { request.addValue(value, forHTTPHeaderField: name) }
        self.init(request: request, response: response, begun: time)
    }
}

extension HTTPRequestHead {
    /// The URL of the target as the client sees it, if the target has one.
    ///
    /// - Parameter isSecured: Whether the request arrived over TLS.
    /// - Returns: The URL, which may be malformed.
    func target(isSecured: Bool) -> String {
        if uri.hasPrefix("/") {
            return (isSecured ? "https://" : "http://") + (headers.first(name: "Host") ?? "") + uri
        }
        return method == .CONNECT ? "https://" + uri : uri
    }
}

extension ResponseWriter {
    /// Writes the response for a request that the gateway does not serve, without its end: a short text.
    func write(_ refusal: Refusal, to request: HTTPRequestHead, closes: Bool) {
        let text = refusal.message + "\n"
        var headers: HTTPHeaders = [
            "Content-Type": "text/plain; charset=utf-8",
            "Content-Length": "\(text.utf8.count)",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
        ]
        let status = HTTPResponseStatus(statusCode: refusal.status)
        if status == .methodNotAllowed { headers.add(name: "Allow", value: Refusal.methods) }
        let version = request.version.major == 1 ? request.version : .http1_1
        let head = HTTPResponseHead(version: version, status: status, headers: headers)
        begin(head.saying(closes: closes), .length(text.utf8.count))
        if request.method != .HEAD { append(text.utf8) }
    }

    /// Writes the response, and closes the connection after it.
    func writeLast(_ refusal: Refusal, to request: HTTPRequestHead) {
        write(refusal, to: request, closes: true)
        end(closes: true)
    }
}

extension HTTPResponseHead {
    /// The head with the field that says whether the connection ends with the response, where the version needs it
    /// (RFC 9112 §9.3).
    func saying(closes: Bool) -> HTTPResponseHead {
        guard closes || version == .http1_0 else { return self }
        var head = self
        head.headers.replaceOrAdd(name: "Connection", value: closes ? "close" : "keep-alive")
        return head
    }
}
#endif
