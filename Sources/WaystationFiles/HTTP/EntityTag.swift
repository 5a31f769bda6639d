/// An entity tag (RFC 9110 section 8.8.3).
struct EntityTag: Sendable, Hashable {
    /// What stands between the quotes.
    let opaque: String
    let isWeak: Bool

    init(opaque: String, isWeak: Bool = false) {
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// The tag as a field value.
    var fieldValue: String { (isWeak ? "W/" : "") + "\"\(opaque)\"" }

    /// Section 8.8.3.2: equal, and neither is weak.
    func stronglyMatches(_ other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && hasSameOpaque(as: other)
    }

    /// Section 8.8.3.2: equal, whether weak or not.
    func weaklyMatches(_ other: EntityTag) -> Bool {
        hasSameOpaque(as: other)
    }

    /// Tags are opaque bytes; `String` equality would fold Unicode forms.
    private func hasSameOpaque(as other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }
}

/// The value of `If-Match` and `If-None-Match`: `*` or a list of tags (RFC 9110 sections 13.1.1, 13.1.2).
enum EntityTagList: Sendable, Equatable {
    case any
    case tags([EntityTag])

    /// Reads a field value; from the first piece that is no entity tag on, nothing counts.
    init(_ value: String) {
        var bytes = value.utf8[...]
        var tags: [EntityTag] = []
        bytes.skipSpaceAndCommas()
        if bytes.first == UInt8(ascii: "*") {
            bytes.removeFirst()
            bytes.skipSpaceAndCommas()
            self = bytes.isEmpty ? .any : .tags([])
            return
        }
        while let tag = EntityTag(takenFrom: &bytes) {
            tags.append(tag)
            let before = bytes.count
            bytes.skipSpaceAndCommas()
            if bytes.count == before { break }
        }
        self = .tags(tags)
    }
}

extension EntityTag {
    /// Takes one tag from the front, or nothing.
    init?(takenFrom bytes: inout Substring.UTF8View) {
        var rest = bytes
        let isWeak = rest.starts(with: "W/".utf8)
        if isWeak { rest.removeFirst(2) }
        guard rest.first == UInt8(ascii: "\"") else { return nil }
        rest.removeFirst()
        let opaque = rest.prefix { $0 != UInt8(ascii: "\"") }
        // etagc = %x21 / %x23-7E / obs-text
        guard opaque.allSatisfy({ $0 >= 0x21 && $0 != 0x7F }), opaque.endIndex != rest.endIndex else { return nil }
        self.init(opaque: String(Substring(opaque)), isWeak: isWeak)
        rest = rest[opaque.endIndex...]
        rest.removeFirst()
        bytes = rest
    }

    /// Reads a field value that is exactly one tag.
    init?(_ value: String) {
        var bytes = value.utf8[...]
        self.init(takenFrom: &bytes)
        guard bytes.isEmpty else { return nil }
    }
}

extension Substring.UTF8View {
    fileprivate mutating func skipSpaceAndCommas() {
        self = drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") || $0 == UInt8(ascii: ",") }
    }
}
