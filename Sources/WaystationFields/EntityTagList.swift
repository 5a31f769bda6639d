/// The value of `If-Match` and `If-None-Match`: `*` or a list of tags (RFC 9110 §13.1.1, §13.1.2).
package enum EntityTagList: Sendable, Equatable {
    /// Whatever there is.
    case any
    /// These, or none at all: the list may be empty.
    case tags([EntityTag])

    /// Reads a field value, nil when it is neither; empty elements are left out (§5.6.1.2).
    ///
    /// What is no tag makes all of it invalid, and so a condition that says less than its sender meant is never evaluated.
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

    /// Whether a representation with this tag, or without any, is among them by strong comparison, as `If-Match` asks.
    package func stronglyMatches(_ tag: EntityTag?) -> Bool {
        matches(tag) { $0.stronglyMatches($1) }
    }

    /// Whether a representation with this tag, or without any, is among them by weak comparison, as `If-None-Match` asks.
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
