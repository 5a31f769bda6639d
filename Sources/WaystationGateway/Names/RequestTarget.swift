#if Gateway
import NIOCore
import NIOHTTP1
import WaystationHTTP
import WaystationStorage
import WaystationFoundation

/// The resource that a request to the gateway asks for.
enum RequestTarget: Equatable, Sendable {
    /// A resource of an origin, by the origin's name at the gateway.
    case named(URL, OriginName)
    /// A resource of an origin, by its own URL, as a client of a proxy asks for it (RFC 9112 §3.2.2).
    case proxied(URL)
    /// A connection to a host, as a client of a proxy asks for it (RFC 9112 §3.2.3).
    case tunnel(host: String, port: Int)

    /// The URL; nil for a tunnel.
    var url: URL? {
        switch self {
        case .named(let url, _), .proxied(let url): url
        case .tunnel: nil
        }
    }
}

/// Finds the target of a request, and refuses requests that could mean two things.
struct TargetReader: Sendable {
    let names: LocalNames
    let isProxy: Bool
    let loopMark: LoopMark
    /// The only origin of a connection over TLS, for which the gateway has shown a certificate; otherwise nil.
    let secured: OriginName?

    init(names: LocalNames, isProxy: Bool, loopMark: LoopMark = LoopMark(), secured: OriginName? = nil) {
        self.names = names
        self.isProxy = isProxy
        self.loopMark = loopMark
        self.secured = secured
    }

    func target(of head: HTTPRequestHead) throws(Refusal) -> RequestTarget {
        let hosts = head.headers["Host"]
        guard hosts.count <= 1, let host = hosts.first ?? impliedHost(of: head) else {
            throw .badRequest("a request needs exactly one Host field; this one has \(hosts.count) (RFC 9112 §3.2)")
        }
        if loopMark.isIn(head) {
            // `no_proxy` knows no ports.
            let name = URLComponents(string: "http://\(host)")?.host ?? host
            throw .ownProxy(name, isSecure: secured != nil || head.method == .CONNECT)
        }
        guard head.uri.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }) else {
            throw .badRequest("the request target has a character that must be percent-encoded (RFC 9112 §3.2)")
        }
        try check(head)
        if let secured { return try within(secured, head.uri, host: host) }
        if head.method == .CONNECT { return try tunnel(head.uri, host: host) }
        if head.uri.hasPrefix("/") { return try named(host, path: head.uri) }
        if head.uri == "*" { throw .badRequest("the gateway has no answer to OPTIONS *; name a resource") }
        return try absolute(head.uri, host: host)
    }

    /// The host of a request of HTTP/1.0 without `Host`, whose target names the host.
    private func impliedHost(of head: HTTPRequestHead) -> String? {
        guard head.version == .http1_0, secured == nil else { return nil }
        if head.method == .CONNECT { return head.uri }
        return head.uri.startsIgnoringCase(with: "http://") ? String(Self.authority(of: head.uri)) : nil
    }

    /// The authority of an absolute `http` URL.
    private static func authority(of target: String) -> Substring {
        target.dropFirst(7).prefix { $0 != "/" && $0 != "?" }
    }

    /// Refuses what no origin should get through a gateway.
    private func check(_ head: HTTPRequestHead) throws(Refusal) {
        // The origin's answer to TRACE shows the cookies that a page may not see.
        if ["TRACE", "TRACK"].contains(head.method.rawValue) { throw .unsupportedMethod(head.method.rawValue) }
        let expectation = head.headers["Expect"].joined(separator: ", ")
        guard expectation.isEmpty || expectation.equalsIgnoringCase("100-continue") else {
            throw .unknownExpectation(expectation)
        }
        guard head.version.major == 1, head.version.minor <= 1 else {
            throw .badRequest("the gateway speaks HTTP/1.1 and HTTP/1.0, not \(head.version)")
        }
        // Only chunks are undone; a list that ends with chunked would leave the body in the other coding.
        let codings = head.headers["Transfer-Encoding"]
        guard codings.isEmpty || (codings.count == 1 && codings[0].equalsIgnoringCase("chunked")) else {
            throw .unknownCoding(codings.joined(separator: ", "))
        }
        // Before HTTP/1.1, a server on the way may not know chunks, and take them for a further request (RFC 9112 §6.1).
        if head.version == .http1_0, head.headers.contains(name: "Transfer-Encoding") {
            throw .badRequest("a request of \(head.version) has no Transfer-Encoding field (RFC 9112 §6.1)")
        }
        try head.checkSingleFields()
    }

    /// The target of a request on a connection over TLS.
    private func within(_ origin: OriginName, _ target: String, host: String) throws(Refusal) -> RequestTarget {
        let authorities = [origin.host + ":\(origin.effectivePort)"] + (origin.port == nil ? [origin.host] : [])
        guard authorities.contains(host.lowercased()) else { throw .otherHost(host, than: origin.serialized) }
        if target.hasPrefix("/") { return .proxied(try url(origin.serialized + target)) }
        guard let (named, rest) = names.split(target), named == origin else {
            throw .badRequest("the request target is neither a path nor a URL of \(origin.serialized) (RFC 9112 §3.2)")
        }
        return .proxied(try url(origin.serialized + (rest.hasPrefix("/") ? String(rest) : "/" + rest)))
    }

    private func named(_ host: String, path: String) throws(Refusal) -> RequestTarget {
        guard let origin = names.origin(ofAuthority: host) else {
            throw .misdirected(host, port: names.port, meant: names.url(meantBy: host))
        }
        return .named(try url(origin.serialized + path), origin)
    }

    private func absolute(_ target: String, host: String) throws(Refusal) -> RequestTarget {
        let isPlain = target.startsIgnoringCase(with: "http://")
        let authority = Self.authority(of: target)
        guard !isPlain || !authority.hasPrefix("[") else {
            throw .badRequest("the host is an IPv6 address, which the gateway does not support: use a host name")
        }
        guard isPlain, let (origin, rest) = names.split(target) else {
            throw .badRequest("the request target is neither a path nor an http URL (RFC 9112 §3.2)")
        }
        guard !authority.contains("@") else {
            throw .badRequest("the request target has a user name before its host (RFC 9110 §4.2.4)")
        }
        guard authority.equalsIgnoringCase(host) else {
            throw .badRequest("the Host field differs from the host of the request target (RFC 9112 §3.2.2)")
        }
        let path = rest.hasPrefix("/") ? String(rest) : "/" + rest
        if names.origin(ofAuthority: authority) != nil { return try named(String(authority), path: path) }
        guard isProxy else { throw .noProxy }
        return .proxied(try url(origin.serialized + path))
    }

    private func tunnel(_ authority: String, host: String) throws(Refusal) -> RequestTarget {
        guard isProxy else { throw .noProxy }
        guard let target = ConnectTarget(authority) else {
            throw .badRequest("CONNECT needs a host and a port, such as shop.example:443 (RFC 9110 §9.3.6)")
        }
        // The field may leave out the port (the example of RFC 9112 §3.2.3).
        let allowed = [authority, String(authority.dropLast(":\(target.port)".count))]
        guard allowed.contains(where: { $0.equalsIgnoringCase(host) }) else {
            throw .badRequest("the Host field differs from the target of CONNECT (RFC 9112 §3.2)")
        }
        return .tunnel(host: target.host, port: target.port)
    }

    private func url(_ text: String) throws(Refusal) -> URL {
        guard let url = URL(string: text.encodedForURL, encodingInvalidCharacters: false) else {
            throw .badRequest("the request target is not a valid URL path (RFC 3986 §3.3)")
        }
        return url
    }
}

extension HTTPRequestHead {
    /// Refuses a request with two values of a field that has one: programs disagree about which one counts.
    func checkSingleFields() throws(Refusal) {
        for name in ["Origin", "Referer", "Sec-Fetch-Site", "Sec-Fetch-Mode", "Sec-Fetch-Dest", "Content-Type"]
        where headers[name].count > 1 {
            throw .badRequest("a request has one \(name) field; this one has \(headers[name].count)")
        }
    }
}

/// The mark of the requests that a gateway sends to itself, because its environment names the gateway as the proxy.
///
/// A proxy recognises such a loop by the field `Via` (RFC 9110 §7.6.3). Some origins answer otherwise if a request has
/// this field: nginx, for example, does not compress then. So only requests to a proxy at the gateway's own port get it:
/// the name of such a proxy may be one of this machine that only a resolver knows.
struct LoopMark: Sendable {
    /// The name of this gateway, which no other one has.
    private let name = "waystation-\(RandomName.make())"

    /// The value of `Via`.
    var field: String { "1.1 " + name }

    /// Adds the mark to a request.
    func add(to request: inout URLRequest) {
        let earlier = request.value(forHTTPHeaderField: "Via").map { $0 + ", " } ?? ""
        request.setValue(earlier + field, forHTTPHeaderField: "Via")
    }

    /// Whether the gateway has sent a request to itself.
    func isIn(_ head: HTTPRequestHead) -> Bool { head.headers["Via"].contains { $0.contains(name) } }
}

/// The host and the port that `CONNECT` names (RFC 9110 §9.3.6).
struct ConnectTarget: Equatable, Sendable {
    /// A name, or an address; that of IPv6 without its brackets.
    let host: String
    let port: Int

    /// Reads the target of a request.
    ///
    /// Addresses are taken in their usual notation only: programs disagree about `0x7f.1`, `2130706433` and `127.1`.
    init?(_ authority: String) {
        guard let colon = authority.lastIndex(of: ":") else { return nil }
        guard let port = OriginName.port(authority[authority.index(after: colon)...]) else { return nil }
        self.port = port
        let host = authority[..<colon]
        if host.first == "[" {
            let address = host.dropFirst().dropLast()
            guard host.last == "]", !address.contains("%"), address.contains(":"), Self.isAddress(address) else {
                return nil
            }
            self.host = String(address)
            return
        }
        guard OriginName(scheme: "https", host: String(host), port: nil) != nil else { return nil }
        guard !host.utf8.endsInNumber || Self.isAddress(host) else { return nil }
        self.host = String(host)
    }

    private static func isAddress(_ text: Substring) -> Bool {
        (try? SocketAddress(ipAddress: String(text), port: 0)) != nil
    }
}
#endif
