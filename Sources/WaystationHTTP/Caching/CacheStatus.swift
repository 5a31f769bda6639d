public import HTTPTypes

/// One member of a `Cache-Status` field: how a cache handled a request (RFC 9211).
///
/// ```swift
/// CacheStatus("Waystation", .hit, timeToLive: .seconds(376)).append(to: &response.headerFields)
/// // Cache-Status: Origin-Side; fwd=stale, Waystation; hit; ttl=376
/// ```
public struct CacheStatus: Hashable, Sendable {
    /// Why a request was forwarded (RFC 9211 §2.2).
    public enum ForwardReason: String, Hashable, Sendable {
        /// The cache was configured not to handle this request.
        case bypass
        /// The method must be forwarded.
        case method
        /// No response was stored for the URL.
        case uriMiss = "uri-miss"
        /// Responses were stored, but for other values of the fields that `Vary` names.
        case varyMiss = "vary-miss"
        /// No stored response could be used, and the reason is not given in more detail.
        case miss
        /// A fresh response was stored, but the request did not allow its use.
        case request
        /// The stored response is stale.
        case stale
        /// A fresh response was stored, but it did not hold all of the requested content.
        case partial
    }

    /// How the cache handled the request: with a stored response or by forwarding it.
    public enum Outcome: Hashable, Sendable {
        /// The request was answered from the cache, without forwarding (§2.1).
        case hit
        /// The request was forwarded (§2.2), with the status code of the response (§2.3), whether the response was
        /// stored (§2.5) and whether the forwarded request was shared by several client requests (§2.6).
        case forwarded(ForwardReason, status: Int? = nil, isStored: Bool = false, isCollapsed: Bool = false)
    }

    /// The name of the field.
    public static let fieldName = HTTPField.Name("Cache-Status")

    /// The cache's name.
    public var cache: String
    /// How the cache handled the request.
    public var outcome: Outcome
    /// How much longer the response is fresh, calculated by this cache; negative when it is stale (§2.4).
    public var timeToLive: Duration?
    /// The cache key (§2.7).
    public var key: String?
    /// Further information (§2.8); written as a token if it is a valid one, otherwise as a string.
    public var detail: String?

    /// Makes a member.
    public init(
        _ cache: String,
        _ outcome: Outcome,
        timeToLive: Duration? = nil,
        key: String? = nil,
        detail: String? = nil
    ) {
        self.cache = cache
        self.outcome = outcome
        self.timeToLive = timeToLive
        self.key = key
        self.detail = detail
    }

    /// The member as an item of a structured field with its parameters (RFC 8941 §3.3).
    public var fieldValue: String {
        var value = Self.tokenOrString(cache)
        switch outcome {
        case .hit: value += "; hit"
        case .forwarded(let reason, let status, let isStored, let isCollapsed):
            value += "; fwd=\(reason.rawValue)"
            if let status { value += "; fwd-status=\(status)" }
            if isStored { value += "; stored" }
            if isCollapsed { value += "; collapsed" }
        }
        if let timeToLive { value += "; ttl=\(Self.integer(timeToLive))" }
        if let key { value += "; key=\(Self.string(key))" }
        if let detail { value += "; detail=\(Self.tokenOrString(detail))" }
        return value
    }

    /// Adds the member after those of the caches that are nearer to the origin (§2).
    public func append(to fields: inout HTTPFields) {
        guard let name = Self.fieldName else { return }
        let earlier = fields[name].flatMap { $0.isEmpty ? nil : $0 + ", " } ?? ""
        fields[name] = earlier + fieldValue
    }

    /// Limits an integer to the fifteen digits that are allowed (RFC 8941 §3.3.1).
    private static func integer(_ duration: Duration) -> Int64 {
        min(max(duration.components.seconds, -999_999_999_999_999), 999_999_999_999_999)
    }

    private static func tokenOrString(_ text: String) -> String {
        guard let first = text.utf8.first, first.isASCIILetter || first == UInt8(ascii: "*"),
            text.utf8.allSatisfy({ $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
        else { return string(text) }
        return text
    }

    /// Writes a string, which may contain only visible ASCII and spaces (RFC 8941 §3.3.3); other bytes are
    /// percent-encoded.
    private static func string(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x20...0x7E: bytes.append(byte)
            default: bytes.appendPercentEncoded(byte)
            }
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}
