#if NIO
import Foundation
import NIOCore
import WaystationFields
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Turns a `URLRequest` into the request that is sent, with the fields that plain `URLSession` sends.
///
/// Composing has no side effects and can be done on any thread.
struct RequestComposer: Sendable {
    /// The configuration's `httpAdditionalHeaders`.
    var additionalFields: [(name: String, value: String)] = []
    /// The content codings that can be removed from a response.
    var codings: [String] = [] {
        didSet { acceptEncoding = codings.isEmpty ? nil : codings.joined(separator: ", ") }
    }
    private var acceptEncoding: String?
    /// How long a request without an interval of its own may be silent, in seconds.
    var sessionTimeout: TimeInterval = 60
    var userAgent = DefaultFields.userAgent
    var acceptLanguage = DefaultFields.acceptLanguage
    private let lastParts = LastURLParts()
    /// The way to an origin; its second argument is false for `http`.
    var route: @Sendable (_ host: String, _ port: Int, _ isSecure: Bool) -> Route = { _, _, _ in .direct }

    /// Whether requests for a URL can be composed.
    ///
    /// They can for `http` and `https` URLs with a host that is no zone identifier, unless a proxy must be used that the
    /// engine does not know.
    func canCarry(_ url: URL?) -> Bool {
        guard let parts = url.flatMap({ lastParts.parts(of: $0.absoluteString) }) else { return false }
        guard case .unsupported = route(parts.plainHost, parts.effectivePort, parts.isSecure) else { return true }
        return false
    }

    /// - Throws: A `TransportFailure` if the request cannot be sent as it is.
    func compose(_ request: URLRequest) throws -> ComposedRequest {
        guard let url = request.url else {
            throw TransportFailure(.badURL, "The request has no URL. Give it one.")
        }
        guard let parts = lastParts.parts(of: url.absoluteString) else { throw Self.refusal(of: url) }
        let method = request.httpMethod ?? "GET"
        guard FieldSyntax.isToken(method) else {
            throw TransportFailure(
                .badURL,
                "The method \(method.quoted()) has characters that methods cannot have. Use a token."
            )
        }
        let host = parts.plainHost
        let route = self.route(host, parts.effectivePort, parts.isSecure)
        if case .unsupported(let reason) = route {
            throw TransportFailure.unsupported(reason)
        }
        let (body, framing) = try Self.body(of: request, method: method)
        var fields = ComposedFields(parts.authority)
        try fields.add(request.allHTTPHeaderFields ?? [:])
        try fields.addMissing(additionalFields)
        if case .absoluteForm(let proxy) = route, let authorization = proxy.authorization {
            try fields.addMissing([("Proxy-Authorization", authorization)])
        }
        try fields.addMissing(defaults(for: parts, method: method, body: body))
        let target = String(DotSegments.removed(from: parts.path) + parts.query)
        let head = EngineRequestHead(
            method: method,
            scheme: parts.isSecure ? "https" : "http",
            authority: fields.authority,
            target: Self.target(target, of: parts, through: route),
            fields: fields.list,
            framing: framing
        )
        return ComposedRequest(
            url: url,
            origin: Origin(isSecure: parts.isSecure, host: host, port: parts.effectivePort, route: route),
            head: head,
            body: body,
            timeout: Self.timeout(request.hasTimeoutInterval ? request.timeoutInterval : sessionTimeout)
        )
    }

    private func defaults(for parts: URLParts, method: String, body: RequestBody) -> [(name: String, value: String)] {
        var list = [("Accept", "*/*"), ("Connection", "keep-alive"), ("User-Agent", userAgent)]
        if let acceptEncoding { list.append(("Accept-Encoding", acceptEncoding)) }
        if let acceptLanguage { list.append(("Accept-Language", acceptLanguage)) }
        if let userinfo = parts.userinfo { list.append(("Authorization", Self.basic(userinfo))) }
        if method == "POST" {
            if case .none = body { return list }
            list.append(("Content-Type", "application/x-www-form-urlencoded"))
        }
        return list
    }

    /// The Basic credentials (RFC 7617) that stand in a URL.
    private static func basic(_ userinfo: Substring) -> String {
        let parts = userinfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let words = parts.map { String($0).removingPercentEncoding ?? String($0) }
        let credentials = "\(words.first ?? ""):\(words.count > 1 ? words[1] : "")"
        return "Basic \(Data(credentials.utf8).base64EncodedString())"
    }

    private static func target(_ target: String, of parts: URLParts, through route: Route) -> String {
        guard case .absoluteForm = route else { return target }
        return "\(parts.isSecure ? "https" : "http")://\(parts.authority)\(target)"
    }

    private static func timeout(_ seconds: TimeInterval) -> TimeAmount {
        // About 30 years; more would overflow when it is added to a time.
        let longest: TimeInterval = 1_000_000_000
        guard seconds.isFinite else { return .seconds(Int64(longest)) }
        return .milliseconds(Int64(min(max(seconds, 0.001), longest) * 1000))
    }

    private static func body(
        of request: URLRequest,
        method: String
    ) throws -> (RequestBody, EngineRequestHead.Framing) {
        var body = RequestBody.none
        var framing = EngineRequestHead.Framing.none
        if let data = request.httpBody, !data.isEmpty {
            body = .data(data)
            framing = .length(Int64(data.count))
        } else if let stream = request.httpBodyStream {
            // Some servers take no body without a length, and the programs behind them read an empty one.
            let length = try declaredLength(of: request) ?? (stream as? any RewindableStream).map { Int64($0.length) }
            body = .stream(BodyStream(stream))
            framing = length.map { .length($0) } ?? .unknownLength
        } else if method != "GET", method != "HEAD" {
            framing = .length(0)
        }
        if method == "GET" {
            guard case .none = body else {
                throw TransportFailure(
                    .dataLengthExceedsMaximum,
                    "A GET request cannot have a body. Remove the body, or use another method such as POST."
                )
            }
        }
        return (body, framing)
    }

    private static func declaredLength(of request: URLRequest) throws -> Int64? {
        guard let text = request.value(forHTTPHeaderField: "Content-Length") else { return nil }
        let digits = FieldSyntax.trimmed(text)
        guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let length = Int64(digits) else {
            throw TransportFailure(
                .badURL,
                "The request's Content-Length \(text.quoted()) is not a number. "
                    + "Set Content-Length to the length of the stream."
            )
        }
        return length
    }

    private static func refusal(of url: URL) -> TransportFailure {
        let scheme = url.scheme?.lowercased()
        guard scheme == "http" || scheme == "https" else {
            return TransportFailure(
                .unsupportedURL,
                "The URL \(url.absoluteString.shownURL) has a scheme that cannot be loaded. Use http or https."
            )
        }
        return TransportFailure(
            .badURL,
            "The URL \(url.absoluteString.shownURL) has no host that can be connected to. Correct its host and port."
        )
    }
}
#endif
