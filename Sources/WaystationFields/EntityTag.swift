/// An entity tag (RFC 9110 §8.8.3).
package struct EntityTag: Sendable, Equatable {
    /// The whole tag as in the field, with quotes, and with `W/` if it is weak.
    package let fieldValue: String
    /// Whether the tag matches by weak comparison only.
    package let isWeak: Bool
    /// Whether the tag is one by the grammar; other text may only be sent alone.
    package let isValid: Bool

    /// Makes a strong tag from the text between the quotes, which must be `etagc` only: no quote, space or control
    /// character.
    package init(strong opaque: String) {
        fieldValue = "\"\(opaque)\""
        isWeak = false
        isValid = true
    }

    /// Reads the `ETag` of a response, or a condition that may repeat one, as it came.
    ///
    /// Many servers leave out the quotes, or have spaces between them, and recognise the tag if it is sent back like that;
    /// browsers send it. Such a tag counts as weak. Nil for a value that says something else as a condition: `*`, or a
    /// list of tags.
    package init?(asItCame value: String) {
        if let tag = EntityTag(value) {
            self = tag
            return
        }
        guard EntityTagList(value) == nil else { return nil }
        let bytes = value.utf8[...].trimmingSpace()
        guard bytes.allSatisfy({ $0.isSpace || ($0 > 0x20 && $0 != 0x7F) }) else { return nil }
        fieldValue = String(Substring(bytes))
        isWeak = true
        isValid = false
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
        isValid = true
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

    private var opaque: Substring.UTF8View {
        fieldValue.utf8.dropFirst(isWeak && fieldValue.utf8.starts(with: "W/".utf8) ? 2 : 0)
    }
}
