/// An entity tag (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Equatable {
    /// The whole tag as the field has it, with quotes and with `W/` when it is weak.
    package let fieldValue: String
    package let isWeak: Bool

    /// Makes a strong tag of what stands between the quotes, which must be `etagc` alone: no quote, space or control.
    package init(strong opaque: String) {
        fieldValue = "\"\(opaque)\""
        isWeak = false
    }

    /// Reads a field value that is exactly one tag.
    package init?(_ value: String) {
        var bytes = value.utf8[...].trimmingSpace()
        self.init(takenFrom: &bytes)
        guard bytes.isEmpty else { return nil }
    }

    /// Takes one tag from the front, or nothing.
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

    /// The same bytes, as a tag is opaque: equal texts may be written in several Unicode forms.
    package static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.fieldValue.utf8.elementsEqual(right.fieldValue.utf8)
    }

    /// Both are strong and equal (§8.8.3.2).
    package func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && self == other
    }

    /// Equal, weak or not (§8.8.3.2).
    package func weaklyMatches(_ other: EntityTag) -> Bool {
        opaque.elementsEqual(other.opaque)
    }

    private var opaque: Substring.UTF8View { fieldValue.utf8.dropFirst(isWeak ? 2 : 0) }
}
