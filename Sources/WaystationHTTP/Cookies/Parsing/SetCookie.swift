public import Foundation

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
        if name.equalsIgnoringCase("expires".utf8) {
            expires = CookieDate.parse(value) ?? expires
        } else if name.equalsIgnoringCase("max-age".utf8) {
            maxAge = Self.seconds(value) ?? maxAge
        } else if name.equalsIgnoringCase("domain".utf8) {
            // §5.2.3: an empty attribute is ignored as a whole; an earlier one stays in effect.
            guard !value.isEmpty else { return }
            let bare = value.first == UInt8(ascii: ".") ? value.dropFirst() : value
            domain = bare.isEmpty ? nil : String(decoding: bare.map(\.lowercased), as: UTF8.self)
        } else if name.equalsIgnoringCase("path".utf8) {
            // §5.2.4: an invalid path means the default path, even when an earlier attribute gave a path.
            path = value.first == UInt8(ascii: "/") ? String(Substring(value)) : nil
        } else if name.equalsIgnoringCase("secure".utf8) {
            isSecure = true
        } else if name.equalsIgnoringCase("httponly".utf8) {
            isHTTPOnly = true
        } else if name.equalsIgnoringCase("samesite".utf8) {
            sameSite = Self.sameSite(value)
        }
    }

    private static func sameSite(_ value: Substring.UTF8View) -> SameSite {
        if value.equalsIgnoringCase("strict".utf8) { return .strict }
        if value.equalsIgnoringCase("lax".utf8) { return .lax }
        if value.equalsIgnoringCase("none".utf8) { return .none }
        return .unspecified
    }

    /// The number of a `Max-Age`; a number too large for the type becomes the largest it can hold.
    private static func seconds(_ value: Substring.UTF8View) -> Int64? {
        let isNegative = value.first == UInt8(ascii: "-")
        let digits = isNegative ? value.dropFirst() : value
        guard digits.isDecimal else { return nil }
        let magnitude = Int64(String(Substring(digits))) ?? .max
        return isNegative ? -magnitude : magnitude
    }
}

extension SetCookie {
    /// Splits the value that Foundation makes from several `Set-Cookie` fields by joining them with commas.
    ///
    /// A comma separates two cookies when a name and `=` follow it before any `;` or further comma; neither follows the
    /// comma of `Expires=Wed, 09 Jun 2027`. Commas inside a fully quoted value do not separate cookies. The
    /// joined text is ambiguous in two cases, which are decided as follows: `a=x,y=z` is two cookies, and a field
    /// without `=` belongs to the value before it.
    ///
    /// - Parameter joined: The value of the header field; a single cookie is returned unchanged.
    /// - Returns: The values of the fields, in their order, without blanks at their ends.
    public static func split(joined: String) -> [String] {
        let octets = joined[...].utf8
        var fields: [String] = []
        var start = octets.startIndex
        var position = octets.startIndex
        var isAtValue = false
        while position < octets.endIndex {
            let octet = octets[position]
            let next = octets.index(after: position)
            switch octet {
            case UInt8(ascii: "="):
                isAtValue = true
            case UInt8(ascii: "\"") where isAtValue:
                isAtValue = false
                if let end = endOfQuotes(octets[next...]) {
                    position = end
                    continue
                }
            case UInt8(ascii: ",") where beginsCookie(octets[next...]):
                append(octets[start..<position], to: &fields)
                start = next
                isAtValue = false
            case 0x20, 0x09:
                break
            default:
                isAtValue = false
            }
            position = next
        }
        append(octets[start...], to: &fields)
        return fields
    }

    private static func append(_ field: Substring.UTF8View, to fields: inout [String]) {
        let field = field.trimmingSpace()
        if !field.isEmpty { fields.append(String(Substring(field))) }
    }

    /// Whether the text begins with a name and `=`.
    private static func beginsCookie(_ rest: Substring.UTF8View) -> Bool {
        guard let end = rest.firstIndex(where: { "=;,".utf8.contains($0) }), rest[end] == UInt8(ascii: "=") else {
            return false
        }
        let name = rest[..<end].trimmingSpace()
        return !name.isEmpty && name.allSatisfy { !$0.isSpace && $0 != UInt8(ascii: "\"") }
    }

    /// The position after the closing quote of a quoted value; `nil` when the quote is not closed or the value
    /// continues after it.
    private static func endOfQuotes(_ rest: Substring.UTF8View) -> Substring.UTF8View.Index? {
        guard let quote = rest.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: ";") }),
            rest[quote] == UInt8(ascii: "\"")
        else { return nil }
        let end = rest.index(after: quote)
        guard let following = rest[end...].first(where: { !$0.isSpace }) else { return end }
        return following == UInt8(ascii: ";") || following == UInt8(ascii: ",") ? end : nil
    }
}

/// The date of an `Expires` attribute (RFC 6265 §5.1.1).
///
/// The algorithm searches instead of matching a format: it takes tokens in any order as the time, the day, the month
/// and the year.
enum CookieDate {
    /// The moment, or `nil` when a part is missing, is out of its range, or the day does not exist.
    static func parse(_ text: Substring.UTF8View) -> Date? {
        var time: (hour: Int, minute: Int, second: Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for token in text.split(whereSeparator: isDelimiter) {
            // The order of the four checks is the algorithm's: `12` is taken as a day unless a day was already found,
            // then as a year.
            if time == nil, let found = Self.time(token) {
                time = found
            } else if day == nil, let found = number(token, digits: 1...2) {
                day = found
            } else if month == nil, let found = Self.month(token) {
                month = found
            } else if year == nil, let found = number(token, digits: 2...4) {
                year = found
            }
        }
        guard let time, let day, let month, var year else { return nil }
        if (70...99).contains(year) { year += 1_900 } else if (0...69).contains(year) { year += 2_000 }
        guard year >= 1_601, time.hour <= 23, time.minute <= 59, time.second <= 59,
            let days = CivilDay(year: year, month: month, day: day)?.daysSinceEpoch
        else { return nil }
        return Date(timeIntervalSince1970: Double(((days * 24 + time.hour) * 60 + time.minute) * 60 + time.second))
    }

    private static func isDelimiter(_ octet: UInt8) -> Bool {
        switch octet {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }

    /// The number at a token's start, when it has as many digits as the range allows and a non-digit or the end
    /// follows.
    private static func number(_ token: Substring.UTF8View, digits: ClosedRange<Int>) -> Int? {
        let run = token.prefix(while: \.isASCIIDigit)
        guard digits.contains(run.count) else { return nil }
        return run.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
    }

    private static func time(_ token: Substring.UTF8View) -> (hour: Int, minute: Int, second: Int)? {
        let fields = token.split(separator: UInt8(ascii: ":"), maxSplits: 2, omittingEmptySubsequences: false)
        guard fields.count == 3, fields[0].count <= 2, fields[0].allSatisfy(\.isASCIIDigit),
            fields[1].count <= 2, fields[1].allSatisfy(\.isASCIIDigit),
            let hour = number(fields[0], digits: 1...2), let minute = number(fields[1], digits: 1...2),
            let second = number(fields[2], digits: 1...2)
        else { return nil }
        return (hour, minute, second)
    }

    private static func month(_ token: Substring.UTF8View) -> Int? {
        let start = token.prefix(3)
        return HTTPDate.months.firstIndex { start.equalsIgnoringCase($0.utf8) }.map { $0 + 1 }
    }
}

/// The length limits and syntax checks of a cookie's parts (RFC 6265bis §5.6).
enum CookieSyntax {
    /// The most octets of a name and its value together.
    static let maximumPairLength = 4_096
    /// The most octets of an attribute's value; a longer one is ignored.
    static let maximumAttributeLength = 1_024

    /// Checks a pair that did not come from the parser, so that it can be written into a field and read back.
    static func check(name: String, value: String) throws(CookieError) {
        guard !name.isEmpty || !value.isEmpty else {
            throw CookieError(.nameless, "a cookie needs a name")
        }
        for part in [name, value] {
            guard part.utf8.allSatisfy({ !$0.isForbiddenControl && $0 != UInt8(ascii: ";") }) else {
                throw CookieError(.character, "a cookie's name or value has a control character or “;”; remove it")
            }
            guard part.utf8.first?.isSpace != true, part.utf8.last?.isSpace != true else {
                throw CookieError(.character, "a cookie's name or value begins or ends with a blank; remove it")
            }
        }
        guard !name.utf8.contains(UInt8(ascii: "=")) else {
            throw CookieError(.character, "a cookie's name contains “=”; remove it")
        }
        try check(length: name.utf8.count + value.utf8.count)
    }

    static func check(length: Int) throws(CookieError) {
        guard length <= maximumPairLength else {
            throw CookieError(.length, "name and value have \(length) octets; at most \(maximumPairLength) are allowed")
        }
    }

    static func check(path: String) throws(CookieError) {
        guard path.utf8.first == UInt8(ascii: "/"), path.utf8.allSatisfy({ !$0.isForbiddenControl }) else {
            throw CookieError(.path, "a cookie's path must begin with “/” and contain no control characters")
        }
    }
}

/// Cookies are defined over octets. Swift's `Character` would join a letter with the combining mark after it, and would
/// compare canonically equivalent texts as equal.
extension UInt8 {
    /// A control character other than the tab (RFC 6265bis §5.6 step 1).
    var isForbiddenControl: Bool { (self < 0x20 && self != 0x09) || self == 0x7F }
}
