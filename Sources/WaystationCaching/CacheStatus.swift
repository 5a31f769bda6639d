public import HTTPTypes
import WaystationFields

/// One member of a `Cache-Status` field: how a cache handled a request (RFC 9211).
///
/// ```swift
/// CacheStatus("Waystation", .hit, timeToLive: .seconds(376)).append(to: &response.headerFields)
/// // Cache-Status: Origin-Side; fwd=stale, Waystation; hit; ttl=376
/// ```
public struct CacheStatus: Hashable, Sendable {
    /// Why a request was forwarded (RFC 9211 §2.2).
    public enum ForwardReason: String, Hashable, Sendable {
        /// The cache was told not to handle this request.
        case bypass
        /// The method has to be forwarded.
        case method
        /// Nothing was stored for the URL.
        case uriMiss = "uri-miss"
        /// Something was stored, for other values of the fields that `Vary` names.
        case varyMiss = "vary-miss"
        /// Nothing that was stored could be used, and no more is told.
        case miss
        /// Something fresh was stored, but the request did not allow its use.
        case request
        /// What was stored is stale.
        case stale
        /// Something fresh was stored, but not all that was asked for.
        case partial
    }

    /// Whether the request was answered from the cache.
    public enum Outcome: Hashable, Sendable {
        /// Without forwarding (§2.1).
        case hit
        /// Forwarded (§2.2), with the status code that came back (§2.3), whether the response was stored (§2.5) and
        /// whether one forwarded request was for several (§2.6).
        case forwarded(ForwardReason, status: Int? = nil, isStored: Bool = false, isCollapsed: Bool = false)
    }

    /// The name of the field.
    public static let fieldName = HTTPField.Name("Cache-Status")

    /// The cache's name.
    public var cache: String
    /// What it did.
    public var outcome: Outcome
    /// How much longer the response is fresh, from this cache's view; negative when it is stale (§2.4).
    public var timeToLive: Duration?
    /// The cache key (§2.7).
    public var key: String?
    /// Anything more (§2.8); a token where it can be one.
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

    /// Adds the member after those of the caches nearer to the origin (§2).
    public func append(to fields: inout HTTPFields) {
        guard let name = Self.fieldName else { return }
        let earlier = fields[name].flatMap { $0.isEmpty ? nil : $0 + ", " } ?? ""
        fields[name] = earlier + fieldValue
    }

    /// An integer has fifteen digits at most (RFC 8941 §3.3.1).
    private static func integer(_ duration: Duration) -> Int64 {
        min(max(duration.components.seconds, -999_999_999_999_999), 999_999_999_999_999)
    }

    private static func tokenOrString(_ text: String) -> String {
        guard let first = text.utf8.first, first.isASCIILetter || first == UInt8(ascii: "*"),
            text.utf8.allSatisfy({ $0.isTokenCharacter || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "/") })
        else { return string(text) }
        return text
    }

    /// A string has visible ASCII and spaces only (RFC 8941 §3.3.3); other bytes are percent-encoded.
    private static func string(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
            case 0x20...0x7E: bytes.append(byte)
            default:
                let digits = Array("0123456789ABCDEF".utf8)
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes + [UInt8(ascii: "\"")], as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var isASCIILetter: Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(lowercased) }
}
