public import Foundation
import WaystationFields

/// One `Set-Cookie` field, parsed (RFC 6265 §5.2, with the limits of RFC 6265bis §5.6).
///
/// Unknown and malformed attributes are ignored; the last of a repeated attribute counts.
public struct SetCookie: Hashable, Sendable {
    /// The name; empty only when the caller accepts nameless cookies.
    public let name: String
    /// The value, including its quotes.
    public let value: String
    /// The moment in `Expires` (§5.2.1).
    public private(set) var expires: Date?
    /// The seconds of `Max-Age`, which takes precedence over `Expires` (§5.2.2).
    ///
    /// With zero or less the cookie expires at once.
    public private(set) var maxAge: Int64?
    /// The `Domain`, in lower case, without its leading dot (§5.2.3); `nil` when only the host itself gets the cookie.
    public private(set) var domain: String?
    /// The `Path` (§5.2.4); `nil` for the default path of the request.
    public private(set) var path: String?
    /// Whether the field has `Secure` (§5.2.5).
    public private(set) var isSecure = false
    /// Whether the field has `HttpOnly` (§5.2.6).
    public private(set) var isHTTPOnly = false
    /// The value of `SameSite` (RFC 6265bis §5.6.7).
    public private(set) var sameSite = SameSite.unspecified

    /// Parses the value of one field.
    ///
    /// - Parameters:
    ///   - field: The value of one `Set-Cookie` field. Split a joined value with ``split(joined:)`` first.
    ///   - acceptsNameless: Whether a text without a name is accepted as a cookie with only a value (RFC 6265bis);
    ///     otherwise it is refused (RFC 6265).
    /// - Throws: ``CookieError`` when the field sets no cookie.
    public init(_ field: String, acceptsNameless: Bool = false) throws(CookieError) {
        let octets = field[...].utf8
        guard octets.allSatisfy({ !$0.isForbiddenControl }) else {
            throw CookieError(.character, "Set-Cookie contains a control character")
        }
        let parts = octets.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
        let pair = parts[0]
        if let equals = pair.firstIndex(of: UInt8(ascii: "=")) {
            name = String(Substring(pair[..<equals].trimmingSpace()))
            value = String(Substring(pair[pair.index(after: equals)...].trimmingSpace()))
        } else {
            name = ""
            value = String(Substring(pair.trimmingSpace()))
        }
        guard !name.isEmpty || (acceptsNameless && !value.isEmpty) else {
            throw CookieError(.nameless, "Set-Cookie has no cookie name")
        }
        try CookieSyntax.check(length: name.utf8.count + value.utf8.count)
        for part in parts.dropFirst() {
            read(attribute: part)
        }
    }

    private mutating func read(attribute part: Substring.UTF8View) {
        let equals = part.firstIndex(of: UInt8(ascii: "="))
        let name = part[..<(equals ?? part.endIndex)].trimmingSpace()
        let value = equals.map { part[part.index(after: $0)...].trimmingSpace() } ?? part[part.endIndex...]
        guard value.count <= CookieSyntax.maximumAttributeLength else { return }
        if name.equalsIgnoringCase("expires") {
            expires = CookieDate.parse(value) ?? expires
        } else if name.equalsIgnoringCase("max-age") {
            maxAge = Self.seconds(value) ?? maxAge
        } else if name.equalsIgnoringCase("domain") {
            // §5.2.3: an empty attribute is ignored as a whole; an earlier one stays in effect.
            guard !value.isEmpty else { return }
            let bare = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
            domain = bare.isEmpty ? nil : String(decoding: bare.map(\.lowercased), as: UTF8.self)
        } else if name.equalsIgnoringCase("path") {
            // §5.2.4: an invalid path means the default path, even when an earlier attribute gave a path.
            path = value.first == UInt8(ascii: "/") ? String(Substring(value)) : nil
        } else if name.equalsIgnoringCase("secure") {
            isSecure = true
        } else if name.equalsIgnoringCase("httponly") {
            isHTTPOnly = true
        } else if name.equalsIgnoringCase("samesite") {
            sameSite = Self.sameSite(value)
        }
    }

    private static func sameSite(_ value: Substring.UTF8View) -> SameSite {
        if value.equalsIgnoringCase("strict") { return .strict }
        if value.equalsIgnoringCase("lax") { return .lax }
        if value.equalsIgnoringCase("none") { return .none }
        return .unspecified
    }

    /// The number of a `Max-Age`; a number too large for the type becomes the largest it can hold.
    private static func seconds(_ value: Substring.UTF8View) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard !digits.isEmpty, digits.allSatisfy(\.isASCIIDigit) else { return nil }
        let magnitude = Int64(String(Substring(digits))) ?? .max
        return isNegative ? -magnitude : magnitude
    }
}
