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

/// The value of `If-Match` and `If-None-Match`: `*` or a list of tags (RFC 9110 §13.1.1, §13.1.2).
package enum EntityTagList: Sendable, Equatable {
    /// `*`: any existing representation.
    case any
    /// A list of tags, which may be empty.
    case tags([EntityTag])

    /// Parses a field value; nil when it is neither form.
    ///
    /// Empty elements are left out (§5.6.1.2). An invalid element makes the whole value invalid, so that a condition
    /// with fewer tags than its sender meant is never evaluated.
    package init?(_ value: String) {
        var bytes = value.utf8[...].trimmingSpace()
        if bytes.elementsEqual("*".utf8) {
            self = .any
            return
        }
        var tags: [EntityTag] = []
        while true {
            bytes = bytes.drop { $0.isSpace || $0 == UInt8(ascii: ",") }
            guard !bytes.isEmpty else { break }
            guard let tag = EntityTag(takenFrom: &bytes) else { return nil }
            tags.append(tag)
            bytes = bytes.drop(while: \.isSpace)
            guard bytes.isEmpty || bytes.first == UInt8(ascii: ",") else { return nil }
        }
        self = .tags(tags)
    }

    /// Reads a condition that may consist of one tag that breaks the grammar (``EntityTag/init(asItCame:)``).
    package init?(asItCame value: String) {
        if let list = EntityTagList(value) {
            self = list
        } else if let tag = EntityTag(asItCame: value) {
            self = .tags([tag])
        } else {
            return nil
        }
    }

    /// Whether the list matches a representation with this tag, or without one, by strong comparison, as `If-Match`
    /// requires.
    package func stronglyMatches(_ tag: EntityTag?) -> Bool {
        matches(tag) { $0.stronglyMatches($1) }
    }

    /// Whether the list matches a representation with this tag, or without one, by weak comparison, as `If-None-Match`
    /// requires.
    package func weaklyMatches(_ tag: EntityTag?) -> Bool {
        matches(tag) { $0.weaklyMatches($1) }
    }

    private func matches(_ tag: EntityTag?, by comparison: (EntityTag, EntityTag) -> Bool) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tag.map { tag in tags.contains { comparison($0, tag) } } ?? false
        }
    }
}
