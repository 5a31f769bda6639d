#if NIO
import NIOCore
import WaystationHTTP
import WaystationFoundation
import Waystation

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
    /// The way to an origin; its second argument is false for `http`.
    var route: @Sendable (_ host: String, _ port: Int, _ isSecure: Bool) -> Route = { _, _, _ in .direct }

    /// Whether requests for a URL can be composed.
    ///
    /// They can for `http` and `https` URLs with a host that is no zone identifier, unless a proxy must be used that the
    /// engine does not know.
    func canCarry(_ url: URL?) -> Bool {
        guard let parts = url.flatMap({ URLParts($0.absoluteString) }) else { return false }
        guard case .unsupported = route(parts.plainHost, parts.effectivePort, parts.isSecure) else { return true }
        return false
    }

    /// - Throws: A `TransportFailure` if the request cannot be sent as it is.
    func compose(_ request: URLRequest) throws -> ComposedRequest {
        guard let url = request.url else {
            throw TransportFailure(.badURL, "The request has no URL. Give it one.")
        }
        guard let parts = URLParts(url.absoluteString) else { throw Self.refusal(of: url) }
        let method = request.httpMethod ?? "GET"
        guard method.utf8.isToken else {
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
        if let userinfo = parts.userinfo {
            list.append(("Authorization", BasicCredentials(userInfo: userinfo).fieldValue))
        }
        if method == "POST" {
            if case .none = body { return list }
            list.append(("Content-Type", "application/x-www-form-urlencoded"))
        }
        return list
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
        let digits = text.trimmingSpace()
        guard digits.utf8.isDecimal, let length = Int64(digits) else {
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

/// The fields that plain `URLSession` adds to every request that lacks them.
enum DefaultFields {
    /// `User-Agent` as Foundation sends it: the name of the process and the version of the libcurl that is loaded.
    static let userAgent: String = {
        let agent = "\(ProcessInfo.processInfo.processName) (unknown version)"
        guard let version = loadedLibcurlVersion() else { return agent }
        return "\(agent) curl/\(version)"
    }()

    /// `Accept-Language` as Foundation sends it: the language of the current locale.
    static var acceptLanguage: String? { Locale.current.language.languageCode?.identifier }

    /// Foundation links libcurl, so its functions are in the process; the engine itself does not use them.
    private static func loadedLibcurlVersion() -> Substring? {
        typealias VersionFunction = @convention(c) () -> UnsafePointer<CChar>?
        guard let symbol = dlsym(nil, "curl_version") else { return nil }
        guard let text = unsafeBitCast(symbol, to: VersionFunction.self)() else { return nil }
        // The text is "libcurl/7.88.1 OpenSSL/3.0.17 …".
        return String(cString: text).split(separator: " ").first?.split(separator: "/").last
    }
}

/// Removes `.` and `..` from a path (RFC 3986 §5.2.4), as plain `URLSession` does before it sends a request.
///
/// Percent-encoded dots (`%2e`) are left alone.
enum DotSegments {
    /// - Returns: The path without dot segments; it begins with `/`.
    static func removed(from path: Substring) -> Substring {
        guard !path.isEmpty else { return "/" }
        guard containsDotSegment(path) else { return path }
        var segments: [Substring] = []
        let parts = path.dropFirst().split(separator: "/", omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            let isLast = index == parts.count - 1
            switch part {
            case ".":
                if isLast { segments.append("") }
            case "..":
                _ = segments.popLast()
                if isLast { segments.append("") }
            default:
                segments.append(part)
            }
        }
        return "/" + segments.joined(separator: "/")
    }

    /// Almost no path has a dot segment, so this is asked before anything is taken apart.
    private static func containsDotSegment(_ path: Substring) -> Bool {
        var previous: UInt8 = 0
        for byte in path.utf8 {
            if byte == UInt8(ascii: "."), previous == UInt8(ascii: "/") { return true }
            previous = byte
        }
        return false
    }
}

/// The fields of a request while it is composed.
struct ComposedFields {
    /// The value of `Host`, or of `:authority` in HTTP/2.
    private(set) var authority: String
    private(set) var list: [(name: String, value: String)] = []
    /// Whether a field has set the authority.
    private var hasHost = false

    init(_ authority: String) {
        self.authority = authority
        list.reserveCapacity(12)
    }

    /// Adds the fields of the request itself.
    mutating func add(_ fields: [String: String]) throws {
        for (name, value) in fields { try add(name, value) }
    }

    /// Adds those fields whose names are not in the list yet.
    mutating func addMissing(_ fields: [(name: String, value: String)]) throws {
        let count = list.count
        for (name, value) in fields
        where !list[..<count].contains(where: { $0.name.equalsIgnoringCase(name) }) {
            if hasHost, name.equalsIgnoringCase("Host") { continue }
            try add(name, value)
        }
    }

    private mutating func add(_ name: String, _ value: String) throws {
        guard name.utf8.isToken else {
            throw TransportFailure(
                .badURL,
                "The field name \(name.quoted()) has characters that names cannot have. Correct the request."
            )
        }
        guard FieldSyntax.isValue(value) else {
            throw TransportFailure(
                .badURL,
                "The value of the field \(name) has a line break or a NUL: \(value.quoted()). Remove it."
            )
        }
        switch name.utf8.count {
        case 4 where name.equalsIgnoringCase("Host"):
            guard FieldSyntax.isHostValue(value) else {
                throw TransportFailure(
                    .badURL,
                    "The Host field \(value.quoted()) is not a host name. Set a name with an optional port."
                )
            }
            authority = value
            hasHost = true
        // The framing is the engine's: a wrong length would let one request be read as two (RFC 9112 §11.2).
        case 14 where name.equalsIgnoringCase("Content-Length"): return
        case 17 where name.equalsIgnoringCase("Transfer-Encoding"): return
        default: list.append((name, value.trimmingSpace()))
        }
    }
}

extension FieldSyntax {
    /// Whether text can be the value of `Host`: no white space, no delimiters of a URL.
    fileprivate static func isHostValue(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && !"/?#@\\".utf8.contains($0) }
    }
}

/// The parts of an `http` or `https` URL that a request needs, percent-encoding left alone (RFC 3986 §3).
struct URLParts: Equatable {
    /// Whether the scheme is `https`.
    var isSecure: Bool
    /// The name or IP address as the URL spells it, with the brackets of an IPv6 address.
    var host: Substring
    var port: Int?
    /// User name and password, percent-encoded, without the `@`.
    var userinfo: Substring?
    /// Empty or begins with `/`; dot segments are still there.
    var path: Substring
    /// With its `?`; empty if there is no query.
    var query: Substring

    /// Nil unless the URL has the scheme `http` or `https` and a host that can be connected to.
    init?(_ url: String) {
        let text = Substring(url)
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        switch text[..<colon].lowercased() {
        case "http": isSecure = false
        case "https": isSecure = true
        default: return nil
        }
        var rest = text[text.utf8.index(after: colon)...]
        guard rest.utf8.starts(with: "//".utf8) else { return nil }
        rest = rest.dropFirst(2)
        let fragment = rest.utf8.firstIndex(of: UInt8(ascii: "#")) ?? rest.endIndex
        rest = rest[..<fragment]
        let end = rest.utf8.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
        let authority = rest[..<end]
        let queryStart = rest[end...].utf8.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = rest[end..<queryStart]
        query = rest[queryStart...]
        guard FieldSyntax.isSendable(path), FieldSyntax.isSendable(query) else { return nil }

        var hostAndPort = authority
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            userinfo = authority[..<at]
            hostAndPort = authority[authority.utf8.index(after: at)...]
        }
        let portColon: Substring.Index?
        if hostAndPort.utf8.first == UInt8(ascii: "[") {
            guard let close = hostAndPort.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            let after = hostAndPort.utf8.index(after: close)
            guard after == hostAndPort.endIndex || hostAndPort.utf8[after] == UInt8(ascii: ":") else { return nil }
            portColon = after == hostAndPort.endIndex ? nil : after
        } else {
            portColon = hostAndPort.utf8.lastIndex(of: UInt8(ascii: ":"))
        }
        host = hostAndPort[..<(portColon ?? hostAndPort.endIndex)]
        if let portColon {
            let digits = hostAndPort[hostAndPort.utf8.index(after: portColon)...]
            if !digits.isEmpty {
                guard let number = UInt16(digits), number > 0 else { return nil }
                port = Int(number)
            }
        }
        // A percent sign in brackets begins a zone identifier (RFC 6874), which only this machine understands.
        guard !host.isEmpty, host != "[]", Self.isHost(host) else { return nil }
    }

    /// The host in lower case and without brackets.
    var plainHost: String { (host.hasPrefix("[") ? host.dropFirst().dropLast() : host).lowercased() }

    /// The port that is connected to.
    var effectivePort: Int { port ?? standardPort }

    private var standardPort: Int { (isSecure ? KnownScheme.https : .http).defaultPort }

    /// The value of `Host`: the default port is left out (RFC 9110 §7.2).
    var authority: String {
        guard let port, port != standardPort else { return String(host) }
        return "\(host):\(port)"
    }

    private static func isHost(_ host: Substring) -> Bool {
        host.utf8.allSatisfy { byte in
            byte > 0x20 && byte < 0x7F && !"%/?#@\\\"<>^`{|}".utf8.contains(byte)
        }
    }
}

/// The characters that may stand in a request.
enum FieldSyntax {
    /// Whether text can be the value of a field: CR, LF and NUL would end the field early (RFC 9110 §5.5).
    static func isValue(_ text: some StringProtocol) -> Bool {
        text.utf8.allSatisfy { $0 != 0x0D && $0 != 0x0A && $0 != 0 }
    }

    /// Whether text can stand in a request line or a pseudo-field: no white space and no control characters.
    static func isSendable(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F } }
}

/// A request as it is sent, and where it is sent to.
struct ComposedRequest: Sendable {
    var url: URL
    var origin: Origin
    var head: EngineRequestHead
    var body: RequestBody
    /// The time for which nothing may happen before the exchange fails.
    var timeout: TimeAmount
}
#endif
