/// A text that a path must contain, as a whole segment or at one end of a segment, for a pattern to match it.
struct PathAnchor: Hashable {
    enum Place: Int32, CaseIterable {
        case segment, prefix, suffix
    }

    let place: Place
    let text: [UInt8]
}

extension PathSegmentPattern {
    /// The texts that the segment requires of a path, the most selective first; empty when it matches any segment.
    var anchors: [PathAnchor] {
        switch self {
        case .any, .anyDepth:
            return []
        case .literal(let text):
            return [PathAnchor(place: .segment, text: text)]
        case .glob(let text):
            return [
                PathAnchor(place: .prefix, text: Array(text.prefix { $0 != Self.star })),
                PathAnchor(place: .suffix, text: Array(text.reversed().prefix { $0 != Self.star }.reversed())),
            ].filter { !$0.text.isEmpty }
        }
    }
}
