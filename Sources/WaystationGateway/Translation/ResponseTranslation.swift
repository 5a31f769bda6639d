#if Gateway
import NIOHTTP1
import Synchronization
import WaystationHTTP
import WaystationFoundation

/// Makes the fields of the gateway's response from those of a load's response.
///
/// Values that name an origin name the gateway instead, where the gateway would serve the URL. Other URLs without a
/// scheme get that of their origin. Fields that would forbid the browser to use plain http are left out.
struct ResponseTranslation: Sendable {
    /// The URLs that the fields name.
    let links: Links
    /// Whether the browser asked by the name of an origin; false when it asked by the origin's own URL, as of a proxy.
    let isNamed: Bool
    /// Whether the links of pages lead to the gateway, so that those of the field `Link` do, too.
    let rewritesLinks: Bool

    /// The fields without `Set-Cookie` and without the framing.
    ///
    /// - Parameters:
    ///   - fields: One value for each name, with its bytes as `FieldText` holds them.
    ///   - isCoded: Whether the body was decoded on its way, so that the fields describe other bytes.
    /// - Returns: The fields.
    func fields(_ fields: [String: String], isCoded: Bool) -> HTTPHeaders {
        let fields = ResponseField.known(fields)
        let connection = fields.first { $0.field.lowered == "connection" }
        let named = connection.map { ConnectionFields.named(by: [$0.value]) } ?? []
        var headers = HTTPHeaders()
        headers.reserveCapacity(fields.count + 2)
        for (field, name, value) in fields {
            guard field.isSent(toNames: isNamed), !named.contains(field.lowered),
                !(isCoded && field.lowered == "content-encoding")
            else { continue }
            headers.add(name: name, value: isNamed ? translated(value, of: field.lowered) : value)
        }
        return headers
    }

    private func translated(_ value: String, of name: String) -> String {
        switch name {
        case "location", "content-location": local(value)
        case "link" where rewritesLinks: replaced(value) { LinkField.targets(in: $0.bytes) }
        case "refresh": replaced(value) { LinkValue.refresh($0.bytes).map { [$0] } ?? [] }
        case "access-control-allow-origin": anyOrigin(value)
        case "content-security-policy", "content-security-policy-report-only":
            ContentSecurityPolicy.local(value, links)
        default: value
        }
    }

    /// The gateway's URL if a rule takes the URL; otherwise a URL that means at the gateway what it means at its origin.
    private func local(_ url: String) -> String { replaced(url) { [$0.bytes.indices] } }

    /// A text with the URLs replaced that are at some places, which are in order.
    private func replaced(_ text: String, at places: (MappedBytes) -> [Range<Int>]) -> String {
        let bytes = MappedBytes(FieldText.bytes(of: text), at: 0)
        let edits = places(bytes).compactMap { links.edit(bytes, $0) }
        guard !edits.isEmpty else { return text }
        var result = RewrittenText()
        bytes.bytes.withUnsafeBufferPointer { text in
            for edit in edits { result.apply(edit, to: text) }
            result.pass(to: text.count, of: text)
        }
        return FieldText.text(of: result.bytes)
    }

    /// The gateway's name for an origin; the text itself if it names none.
    private func anyOrigin(_ text: String) -> String { links.names.local(text) ?? text }
}

/// The field `Link` (RFC 8288 §3), which names resources that a browser loads early, and others.
///
/// ```
/// Link: <https://cdn.example/a.woff2>; rel=preload; as=font, </next>; rel="next"
/// ```
enum LinkField {
    /// Finds the targets of the links: the texts between angle brackets before their parameters.
    ///
    /// - Parameter value: The value of the field.
    /// - Returns: The places of the targets, in their order, without the brackets.
    static func targets(in value: [UInt8]) -> [Range<Int>] {
        var targets: [Range<Int>] = []
        var index = 0
        while index < value.count {
            if value[index] == UInt8(ascii: "<") {
                guard let end = value[index...].firstIndex(of: UInt8(ascii: ">")) else { return targets }
                targets.append((index + 1)..<end)
                index = end
            }
            // A link without a target is invalid; the next link may be valid.
            guard isSeparator(value[index]) else {
                index = (value[index...].firstIndexOutsideQuotes(of: UInt8(ascii: ",")) ?? value.count) + 1
                continue
            }
            index += 1
        }
        return targets
    }

    private static func isSeparator(_ byte: UInt8) -> Bool {
        byte.isSpace || byte == UInt8(ascii: ",")
    }
}

/// The part of a field in the translation of a response, which depends on the field's name alone.
struct ResponseField: Sendable {
    /// The name in lower case.
    let lowered: String
    /// The browsers that get the field.
    private let use: Use

    private enum Use {
        case all
        /// The field would make a browser leave plain http, or the gateway's port.
        case proxied
        case nothing
    }

    private static let dropped = ConnectionFields.all.union(["trailer", "content-length", "set-cookie", "set-cookie2"])
    private static let droppedOfNames: Set<String> = [
        "strict-transport-security", "alt-svc", "public-key-pins", "expect-ct",
    ]

    init(_ name: String) {
        lowered = name.lowercased()
        if Self.dropped.contains(lowered) {
            use = .nothing
        } else {
            use = Self.droppedOfNames.contains(lowered) ? .proxied : .all
        }
    }

    /// Whether a browser gets the field.
    ///
    /// - Parameter names: Whether the browser asked by the name of an origin.
    /// - Returns: False for fields of the connection, and for those that would lead away from the gateway's name.
    func isSent(toNames names: Bool) -> Bool {
        switch use {
        case .all: true
        case .proxied: !names
        case .nothing: false
        }
    }

    /// The fields that were seen last: an origin sends the same ones again and again.
    private static let seen = Mutex<[String: ResponseField]>([:])
    /// When there are more, all are dropped.
    private static let limit = 512

    /// The fields of a response with their names and values.
    static func known(_ fields: [String: String]) -> [(field: ResponseField, name: String, value: String)] {
        seen.withLock { seen in
            fields.map { name, value in
                if let known = seen[name] { return (known, name, value) }
                let field = ResponseField(name)
                if seen.count >= limit { seen.removeAll(keepingCapacity: true) }
                seen[name] = field
                return (field, name, value)
            }
        }
    }
}

/// The member of a `Cache-Status` field that Waystation has written (RFC 9211 §2).
enum OwnCacheStatus {
    /// The member with its parameters; nil if Waystation has not written one.
    ///
    /// It is found from the end, because Waystation appends its member: an origin can write any text before it, also an
    /// open quote.
    static func member(of field: String) -> Substring? {
        var rest = field[...]
        while let comma = rest.utf8.lastIndex(of: UInt8(ascii: ",")) {
            let member = field[field.utf8.index(after: comma)...].drop { $0 == " " }
            if isOwn(member) { return member }
            rest = rest[..<comma]
        }
        return isOwn(field[...]) ? field[...] : nil
    }

    private static func isOwn(_ member: Substring) -> Bool { member.utf8.starts(with: "Waystation; ".utf8) }
}

/// Makes the request to the origin from a browser's request to the gateway.
struct RequestTranslation: Sendable {
    let names: LocalNames
    /// The longest silence between two events of a stream, in seconds: a browser sets no limit (HTML §9.2).
    ///
    /// A session's own limit, a minute by default, would end a stream of rare events again and again.
    let silenceBetweenEvents: TimeInterval
    /// Whether the fields that say for whom a proxy asks reach the origin.
    var passesForwardedFields = false

    /// The fields that are about the connection to the gateway, about the form in which the gateway itself gets the
    /// body, or that the transport writes.
    private static let dropped = ConnectionFields.all.union([
        "host", "trailer", "content-length", "accept-encoding", "expect", "upgrade-insecure-requests",
    ])

    /// Whether a field says for whom a proxy asks (RFC 7239, and the fields before it).
    private static func saysForWhom(_ name: String) -> Bool {
        name == "forwarded" || name.hasPrefix("x-forwarded") || name == "x-real-ip"
    }

    /// The request without its body.
    ///
    /// - Parameters:
    ///   - head: The head as it arrived.
    ///   - target: The resource.
    /// - Returns: The request; the spelling of its values is that of the origin's own URLs.
    func request(_ head: HTTPRequestHead, for target: URL) -> URLRequest {
        var request = URLRequest(url: target)
        // Setting a method takes longer than the rest for a request without fields.
        if head.method != .GET { request.httpMethod = head.method.rawValue }
        let named = ConnectionFields.named(by: head.headers["Connection"])
        for (name, value) in head.headers {
            let lowered = name.lowercased()
            guard !Self.dropped.contains(lowered), !named.contains(lowered),
                passesForwardedFields || !Self.saysForWhom(lowered)
            else { continue }
            switch lowered {
            case "origin", "referer": request.setValue(names.remote(value) ?? value, forHTTPHeaderField: name)
            // A browser may split its cookies over several fields.
            case "cookie":
                let earlier = request.value(forHTTPHeaderField: name).map { $0 + "; " } ?? ""
                request.setValue(earlier + value, forHTTPHeaderField: name)
            case "accept":
                // The value that an `EventSource` sends.
                if head.method == .GET, value == "text/event-stream" { request.timeoutInterval = silenceBetweenEvents }
                request.addValue(value, forHTTPHeaderField: name)
            default: request.addValue(value, forHTTPHeaderField: name)
            }
        }
        return request
    }
}
#endif
