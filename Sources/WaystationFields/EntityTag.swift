/// An entity tag (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Equatable {
    /// The whole tag as in the field, with quotes, and with `W/` if it is weak.
    package let fieldValue: String
    package let isWeak: Bool

    /// Makes a strong tag from the text between the quotes, which must be `etagc` only: no quote, space or control
    /// character.
    package init(strong opaque: String) {
        fieldValue = "\"\(opaque)\""
        isWeak = false
    }

    /// Parses a field value that is exactly one tag.
    package init?(_ value: String) {
        var bytes = value.utf8[...].trimmingSpace()
        self.init(takenFrom: &bytes)
        guard bytes.isEmpty else { return nil }
    }

    /// Takes one tag from the front; on failure it takes nothing.
    init?(takenFrom bytes: inout Substring.UTF8View) {
        var rest = bytes
        isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest.removeFirst(2) }
        guard rest.popFirst() == UInt8(ascii: "\"") else { return nil }
        let opaque = rest.prefix { $0 != UInt8(ascii: "\"") }
        // etagc = %x21 / %x23-7E / obs-text
        guard opaque.endIndex != rest.endIndex, opaque.allSatisfy({ $0 >= 0x21 && $0 != 0x7F }) else { return nil }
        rest = rest[opaque.endIndex...].dropFirst()
        fieldValue = String(Substring(bytes[..<rest.startIndex]))
        bytes = rest
    }

    /// Compares the bytes, since a tag is opaque: Swift's `String` comparison ignores differences in Unicode form.
    package static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.fieldValue.utf8.elementsEqual(right.fieldValue.utf8)
    }

    /// Whether both tags are strong and equal (§8.8.3.2).
    package func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && self == other
    }

    /// Whether the tags are equal, weak or not (§8.8.3.2).
    package func weaklyMatches(_ other: EntityTag) -> Bool {
        opaque.elementsEqual(other.opaque)
    }

    private var opaque: Substring.UTF8View { fieldValue.utf8.dropFirst(isWeak ? 2 : 0) }
}
