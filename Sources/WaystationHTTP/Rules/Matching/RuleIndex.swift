/// Rules arranged for look-up: a trie of host labels from the right, and below each host a trie of path segments.
///
/// ```
/// com ─ example ─ shop          a rule for `shop.example.com` is at `exact` of the last label,
///          │        └ exact ──▶ path root      one for `*.example.com` at `subdomains` of `example`
///          └ subdomains ──────▶ path root      `*` at `anyHost`
///
/// path root ─ app ─ * ─ edit    a rule ends at the node of its last segment (`ending`), or continues from the node
///                               before its first `**` or `*.png`: a rule with a text that must follow is found
///                               by that text (`anchored`, an ``AnchorIndex``), and the others are tried one
///                               after the other (`continuing`)
/// ```
/// Every node has the number of the lowest rule below it, so that a walk skips subtrees that cannot beat the rule it
/// has already found.
struct RuleIndex: Sendable {
    struct HostNode: Sendable {
        /// Roots of path tries; -1 for none.
        var exact: Int32 = -1
        var subdomains: Int32 = -1
    }

    struct PathNode: Sendable {
        /// The lowest rule at or below the node.
        var lowest: Int32
        /// The child by `*`; -1 for none.
        var anyChild: Int32
        /// The node of ``RuleIndex/anchors`` with the rules that continue and have an anchor; -1 for none.
        var anchored: Int32
        /// Ranges of ``RuleIndex/lists``, each in ascending order: rules that end here, and rules that continue without
        /// an anchor.
        var ending: Range<Int32>
        var continuing: Range<Int32>
    }

    /// The checks that decide most rules, in a few bytes for each rule.
    struct Gate: Sendable {
        /// -1 means http or https, otherwise an index of ``RuleIndex/schemes``.
        var scheme: Int32
        /// -1 means the default port, -2 any port, otherwise the port.
        var port: Int32
        var hasConditions: Bool
        /// How many segments of the pattern lead to the rule's node.
        var consumed: Int32
        /// Whether only `**` follows.
        var takesRest: Bool
    }

    /// `http` and `https` first, then the other schemes in patterns.
    let schemes: [String]
    let hostNodes: [HostNode]
    let hostEdges: LabelledEdges
    let anyHost: Int32
    let pathNodes: [PathNode]
    let pathEdges: LabelledEdges
    let anchors: AnchorIndex
    let lists: [Int32]
    let gates: [Gate]
    let conditions: [RuleConditions]
    let paths: [[PathSegmentPattern]]

    /// The lowest rule that matches the request.
    func firstMatch(for request: RuleRequest) -> Int? {
        // Almost no URL has needless escapes, and copying the URL would make each decision slower.
        guard request.url.layout.hasNeedlessEscapes else { return firstMatch(for: request, at: request.url) }
        return firstMatch(for: request, at: request.url.plain)
    }

    /// The lowest rule that matches the request at a plain URL; predicates get the request's own URL.
    private func firstMatch(for request: RuleRequest, at url: CanonicalURL) -> Int? {
        let best = url.string.withUTF8Bytes { bytes in
            var search = Search(bytes: bytes, layout: url.layout, request: request, schemes: schemes)
            walkHost(&search)
            return search.best
        }
        return best == .max ? nil : Int(best)
    }

    private func walkHost(_ search: inout Search) {
        if anyHost >= 0 { walkPath(anyHost, search.pathStart, &search) }
        let start = Int(search.layout.hostStart)
        var end = Int(search.layout.hostEnd)
        var node: Int32 = 0
        while true {
            var labelStart = end
            while labelStart > start, search.bytes[labelStart - 1] != UInt8(ascii: ".") { labelStart -= 1 }
            node = hostEdges.child(of: node, by: search.bytes, labelStart, end)
            guard node >= 0 else { return }
            let roots = hostNodes[Int(node)]
            if labelStart == start {
                if roots.exact >= 0 { walkPath(roots.exact, search.pathStart, &search) }
                return
            }
            if roots.subdomains >= 0 { walkPath(roots.subdomains, search.pathStart, &search) }
            end = labelStart - 1
        }
    }

    /// Visits the node for the path up to `position`, and the nodes below it that the URL's path leads to.
    ///
    /// Only one path leads to each node, so none is visited twice, even when `*` and literals branch.
    private func walkPath(_ root: Int32, _ start: Int, _ search: inout Search) {
        var node = pathNodes[Int(root)]
        var current = root
        var position = start
        while node.lowest < search.best {
            for slot in node.continuing {
                let rule = lists[Int(slot)]
                guard rule < search.best else { break }
                if takes(rule, from: position, search) { search.best = rule }
            }
            if node.anchored >= 0 { visitAnchored(node.anchored, position, &search) }
            if position == search.pathEnd {
                for slot in node.ending {
                    let rule = lists[Int(slot)]
                    guard rule < search.best else { break }
                    if passesGate(rule, search) { search.best = rule }
                }
                return
            }
            let segmentEnd = PathSegmentPattern.endOfSegment(search.bytes, from: position + 1, to: search.pathEnd)
            if node.anyChild >= 0 { walkPath(node.anyChild, segmentEnd, &search) }
            current = pathEdges.child(of: current, by: search.bytes, position + 1, segmentEnd)
            guard current >= 0 else { return }
            node = pathNodes[Int(current)]
            position = segmentEnd
        }
    }

    /// Visits the rules that continue from `start` and whose anchor the rest of the path contains.
    ///
    /// A rule is checked at most once, even if the path contains its anchor several times.
    private func visitAnchored(_ node: Int32, _ start: Int, _ search: inout Search) {
        let (lowest, probes) = (anchors.nodes[Int(node)].lowest, anchors.nodes[Int(node)].probes)
        guard lowest < search.best else { return }
        var tried: [Int32] = []
        var position = start
        while position < search.pathEnd {
            let segmentStart = position + 1
            position = PathSegmentPattern.endOfSegment(search.bytes, from: segmentStart, to: search.pathEnd)
            for probe in probes {
                let list = anchors.list(of: node, anchors.probes[probe], in: search.bytes, segmentStart, position)
                guard list >= 0, !tried.contains(list) else { continue }
                // A list found in the last segment cannot be found again, so it is not recorded.
                if position < search.pathEnd { tried.append(list) }
                for slot in anchors.lists[Int(list)] {
                    let rule = anchors.rules[slot]
                    guard rule < search.best else { break }
                    if takes(rule, from: start, search) { search.best = rule }
                }
            }
        }
    }

    private func takes(_ rule: Int32, from position: Int, _ search: Search) -> Bool {
        let gate = gates[Int(rule)]
        guard gate.takesRest || takesPath(rule, gate, from: position, search) else { return false }
        return passesGate(rule, search)
    }

    private func takesPath(_ rule: Int32, _ gate: Gate, from position: Int, _ search: Search) -> Bool {
        let rest = paths[Int(rule)][Int(gate.consumed)...]
        return PathSegmentPattern.matches(rest, search.bytes, from: position, to: search.pathEnd)
    }

    @inline(__always)
    private func passesGate(_ rule: Int32, _ search: Search) -> Bool {
        let gate = gates[Int(rule)]
        let takesScheme = gate.scheme == search.scheme || gate.scheme == -1 && (0...1).contains(search.scheme)
        let takesPort = gate.port == search.port || gate.port == -2 || gate.port == search.effectivePort
        guard takesScheme, takesPort else { return false }
        return !gate.hasConditions || conditions[Int(rule)].areMet(by: search.request)
    }
}

/// One walk through a ``RuleIndex``.
private struct Search {
    let bytes: UnsafeBufferPointer<UInt8>
    let layout: URLLayout
    let request: RuleRequest
    /// An index of ``RuleIndex/schemes``, or -2 when no pattern has the scheme.
    let scheme: Int32
    /// The port in the URL; -1 for none.
    let port: Int32
    let effectivePort: Int32
    /// The lowest rule found so far.
    var best = Int32.max

    var pathStart: Int { Int(layout.pathStart) }
    var pathEnd: Int { Int(layout.pathEnd) }

    init(bytes: UnsafeBufferPointer<UInt8>, layout: URLLayout, request: RuleRequest, schemes: [String]) {
        self.bytes = bytes
        self.layout = layout
        self.request = request
        let name = bytes[0..<Int(layout.schemeEnd)]
        let known = KnownScheme(name)
        switch known {
        case .http: scheme = 0
        case .https: scheme = 1
        default: scheme = schemes.firstIndex { $0.utf8.elementsEqual(name) }.map(Int32.init) ?? -2
        }
        port = layout.port.map(Int32.init) ?? -1
        // -3 equals the port of no gate.
        effectivePort = port >= 0 ? port : known.map { Int32($0.defaultPort) } ?? -3
    }
}
