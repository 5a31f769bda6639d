/// An entity tag (RFC 9110 §8.8.3).
struct EntityTag: Hashable, Sendable {
    /// The whole tag as the field has it, with quotes and with `W/` when it is weak.
    let fieldValue: String
    let isWeak: Bool

    /// Reads a field value that is exactly one tag.
    init?(_ value: String) {
        var bytes = value.utf8[...].trimmingSpace()
        self.init(takenFrom: &bytes)
        guard bytes.isEmpty else { return nil }
    }

    /// Takes one tag from the front, or nothing.
    fileprivate init?(takenFrom bytes: inout Substring.UTF8View) {
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

    /// Both are strong and equal (RFC 9110 §8.8.3.2).
    func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && fieldValue.utf8.elementsEqual(other.fieldValue.utf8)
    }

    /// Equal, weak or not (RFC 9110 §8.8.3.2).
    func weaklyMatches(_ other: EntityTag) -> Bool {
        opaque.elementsEqual(other.opaque)
    }

    private var opaque: Substring.UTF8View { fieldValue.utf8.dropFirst(isWeak ? 2 : 0) }
}

/// The value of `If-None-Match`: `*` or a list of tags (RFC 9110 §13.1.2).
enum EntityTagList: Hashable, Sendable {
    case any
    case tags([EntityTag])

    /// Reads a field value; nil when it is neither.
    init?(_ value: String) {
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
            bytes = bytes.drop(while: \.isSpace)
            guard bytes.isEmpty || bytes.first == UInt8(ascii: ",") else { return nil }
            tags.append(tag)
        }
        guard !tags.isEmpty else { return nil }
        self = .tags(tags)
    }
}
