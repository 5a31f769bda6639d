import WaystationFields

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
