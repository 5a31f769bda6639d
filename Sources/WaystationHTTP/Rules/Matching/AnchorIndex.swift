/// Rules with globs, indexed by a text that a path must contain to match them.
///
/// ```
/// /app/**/cart.html      by the segment `cart.html`
/// /img/n123-*.png        by the prefix `n123-`, or by the suffix `.png` if fewer rules have that
/// ```
/// A node holds the rules that continue from one place of a ``RuleIndex``. Each rule is indexed by one of its anchors,
/// the one that it shares with the fewest other rules of the node, so that a look-up meets few rules even among many. A
/// look-up searches one table once for each segment of the path and each probe of the node.
struct AnchorIndex: Sendable {
    /// A rule and the anchors that may index it.
    struct Entry {
        let rule: Int32
        let anchors: [PathAnchor]
    }

    /// A part of a segment that indexes rules: the whole segment, or a number of bytes at one end.
    struct Probe: Hashable, Sendable {
        let place: PathAnchor.Place
        /// Nil for the whole segment.
        let length: Int?

        init(_ anchor: PathAnchor) {
            place = anchor.place
            length = anchor.place == .segment ? nil : anchor.text.count
        }
    }

    struct Node: Sendable {
        let lowest: Int32
        /// A range of ``AnchorIndex/probes``.
        let probes: Range<Int>
    }

    private(set) var nodes: [Node] = []
    private(set) var probes: [Probe] = []
    /// Ranges of ``rules``, each in ascending order and never empty.
    private(set) var lists: [Range<Int>] = []
    private(set) var rules: [Int32] = []
    /// Maps a node, a place and a text to an index of ``lists``.
    private var edges = LabelledEdges()

    /// Adds a new node with rules, which are in ascending order and have at least one anchor each.
    mutating func insert(_ entries: [Entry]) -> Int32 {
        var uses: [PathAnchor: Int] = [:]
        for entry in entries {
            for anchor in Set(entry.anchors) { uses[anchor, default: 0] += 1 }
        }
        var filed: [PathAnchor: [Int32]] = [:]
        for entry in entries {
            guard let rarest = entry.anchors.min(by: { uses[$0, default: 0] < uses[$1, default: 0] }) else { continue }
            filed[rarest, default: []].append(entry.rule)
        }

        let node = Int32(nodes.count)
        let firstProbe = probes.count
        probes.append(contentsOf: Set(filed.keys.map(Probe.init)))
        nodes.append(Node(lowest: entries.first?.rule ?? .max, probes: firstProbe..<probes.count))
        for (anchor, found) in filed {
            let list = Int32(lists.count)
            lists.append(rules.count..<(rules.count + found.count))
            rules.append(contentsOf: found)
            anchor.text.withUnsafeBufferPointer { text in
                edges.insert(from: Self.parent(node, anchor.place), by: text, to: list)
            }
        }
        return node
    }

    /// The list that a probe finds in the segment `bytes[start..<end]`, or -1.
    @inline(__always)
    func list(of node: Int32, _ probe: Probe, in bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Int32 {
        let length = probe.length ?? end - start
        guard length <= end - start else { return -1 }
        let textStart = probe.place == .suffix ? end - length : start
        return edges.child(of: Self.parent(node, probe.place), by: bytes, textStart, textStart + length)
    }

    @inline(__always)
    private static func parent(_ node: Int32, _ place: PathAnchor.Place) -> Int32 {
        node * Int32(PathAnchor.Place.allCases.count) + place.rawValue
    }
}

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
