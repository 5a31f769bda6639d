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

    /// Reads a condition that may consist of one tag that is none by the grammar (``EntityTag/init(asItCame:)``).
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
