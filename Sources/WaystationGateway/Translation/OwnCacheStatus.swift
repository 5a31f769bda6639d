#if Gateway
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
#endif
