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

/// Collects rules in order and builds a ``RuleIndex`` of them.
struct RuleIndexBuilder {
    private struct PathNode {
        var lowest: Int32
        var anyChild: Int32 = -1
        var ending: [Int32] = []
        var continuing: [Int32] = []
        var anchored: [AnchorIndex.Entry] = []
    }

    private var schemes = ["http", "https"]
    private var hostNodes = [RuleIndex.HostNode()]
    private var hostEdges = LabelledEdges()
    private var anyHost: Int32 = -1
    private var pathNodes: [PathNode] = []
    private var pathEdges = LabelledEdges()
    private var gates: [RuleIndex.Gate] = []
    private var conditions: [RuleConditions] = []
    private var paths: [[PathSegmentPattern]] = []

    /// Adds the next rule.
    mutating func append(_ pattern: URLPattern, _ condition: RuleConditions) {
        let rule = Int32(gates.count)
        // The number of segments that the trie stores; the first `**`, or glob within a segment, ends them.
        let consumed = pattern.path.firstIndex(where: \.needsMatching) ?? pattern.path.count
        gates.append(
            RuleIndex.Gate(
                scheme: scheme(of: pattern),
                port: port(of: pattern),
                hasConditions: !condition.isEmpty,
                consumed: Int32(consumed),
                takesRest: pattern.path[consumed...] == [.anyDepth]
            )
        )
        conditions.append(condition)
        paths.append(pattern.path)

        let anchors = pattern.path[consumed...].flatMap(\.anchors)
        for root in pathRoots(for: pattern.host, rule) {
            let node = pathNode(below: root, pattern.path[..<consumed], rule)
            if consumed == pattern.path.count {
                pathNodes[node].ending.append(rule)
            } else if anchors.isEmpty {
                pathNodes[node].continuing.append(rule)
            } else {
                pathNodes[node].anchored.append(AnchorIndex.Entry(rule: rule, anchors: anchors))
            }
        }
    }

    /// The finished index.
    func build() -> RuleIndex {
        var lists: [Int32] = []
        func list(_ rules: [Int32]) -> Range<Int32> {
            let start = Int32(lists.count)
            lists.append(contentsOf: rules)
            return start..<Int32(lists.count)
        }
        var anchors = AnchorIndex()
        let nodes = pathNodes.map { node in
            RuleIndex.PathNode(
                lowest: node.lowest,
                anyChild: node.anyChild,
                anchored: node.anchored.isEmpty ? -1 : anchors.insert(node.anchored),
                ending: list(node.ending),
                continuing: list(node.continuing)
            )
        }
        return RuleIndex(
            schemes: schemes,
            hostNodes: hostNodes,
            hostEdges: hostEdges,
            anyHost: anyHost,
            pathNodes: nodes,
            pathEdges: pathEdges,
            anchors: anchors,
            lists: lists,
            gates: gates,
            conditions: conditions,
            paths: paths
        )
    }

    private mutating func scheme(of pattern: URLPattern) -> Int32 {
        guard case .named(let name) = pattern.scheme else { return -1 }
        if let known = schemes.firstIndex(of: name) { return Int32(known) }
        schemes.append(name)
        return Int32(schemes.count - 1)
    }

    private func port(of pattern: URLPattern) -> Int32 {
        switch pattern.port {
        case .standard: -1
        case .any: -2
        case .exact(let number): Int32(number)
        }
    }

    private mutating func pathRoots(for host: URLPattern.Host, _ rule: Int32) -> [Int32] {
        switch host {
        case .any:
            if anyHost < 0 { anyHost = makePathNode(rule) }
            return [anyHost]
        case .exact(let name):
            return [exactRoot(of: hostNode(name), rule)]
        case .subdomains(let name):
            return [subdomainRoot(of: hostNode(name), rule)]
        case .domain(let name):
            let node = hostNode(name)
            return [exactRoot(of: node, rule), subdomainRoot(of: node, rule)]
        }
    }

    private mutating func exactRoot(of node: Int, _ rule: Int32) -> Int32 {
        if hostNodes[node].exact < 0 { hostNodes[node].exact = makePathNode(rule) }
        return hostNodes[node].exact
    }

    private mutating func subdomainRoot(of node: Int, _ rule: Int32) -> Int32 {
        if hostNodes[node].subdomains < 0 { hostNodes[node].subdomains = makePathNode(rule) }
        return hostNodes[node].subdomains
    }

    private mutating func hostNode(_ name: String) -> Int {
        var node: Int32 = 0
        for label in name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).reversed() {
            Array(label).withUnsafeBufferPointer { label in
                let parent = node
                node = hostEdges.child(of: parent, by: label, 0, label.count)
                guard node < 0 else { return }
                node = Int32(hostNodes.count)
                hostNodes.append(RuleIndex.HostNode())
                hostEdges.insert(from: parent, by: label, to: node)
            }
        }
        return Int(node)
    }

    private mutating func makePathNode(_ rule: Int32) -> Int32 {
        // Rules arrive in ascending order, so the rule that creates a node is the lowest below it.
        pathNodes.append(PathNode(lowest: rule))
        return Int32(pathNodes.count - 1)
    }

    private mutating func pathNode(below root: Int32, _ path: ArraySlice<PathSegmentPattern>, _ rule: Int32) -> Int {
        var node = root
        for segment in path {
            guard case .literal(let text) = segment else {
                if pathNodes[Int(node)].anyChild < 0 { pathNodes[Int(node)].anyChild = makePathNode(rule) }
                node = pathNodes[Int(node)].anyChild
                continue
            }
            text.withUnsafeBufferPointer { label in
                let parent = node
                node = pathEdges.child(of: parent, by: label, 0, label.count)
                guard node < 0 else { return }
                node = makePathNode(rule)
                pathEdges.insert(from: parent, by: label, to: node)
            }
        }
        return Int(node)
    }
}

extension PathSegmentPattern {
    /// Whether the segment is neither a literal nor a lone `*`, which the trie stores directly.
    fileprivate var needsMatching: Bool {
        switch self {
        case .literal, .any: false
        case .glob, .anyDepth: true
        }
    }
}

/// The edges of a forest of tries: each leads from a node, by a label of bytes, to a child.
///
/// All edges share one open-addressed table, keyed by node and label, so that a step usually costs one memory access
/// regardless of the number of children, and no key object is made. Dictionaries keyed by `Substring` would hash with
/// SipHash and count references at each step.
struct LabelledEdges: Sendable {
    private struct Edge {
        var hash: UInt32
        var parent: Int32
        /// The child; -1 in a free slot.
        var child: Int32
        var labelStart: Int32
        var labelCount: Int32

        static let free = Edge(hash: 0, parent: -1, child: -1, labelStart: 0, labelCount: 0)
    }

    private var slots: [Edge] = Array(repeating: .free, count: 16)
    private var count = 0
    /// The labels of all edges, joined.
    private var labels: [UInt8] = []
    /// The seed differs in each process, so that an attacker cannot prepare a list of labels that collide.
    private let seed = UInt64(truncatingIfNeeded: "waystation".hashValue)

    /// Returns the child of `parent` by the label `bytes[start..<end]`, or -1.
    @inline(__always)
    func child(of parent: Int32, by bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Int32 {
        let hash = hash(parent, bytes, start, end)
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while true {
            let edge = slots[slot]
            if edge.child < 0 { return -1 }
            if edge.hash == hash, edge.parent == parent, Int(edge.labelCount) == end - start,
                isLabel(of: edge, bytes, start)
            {
                return edge.child
            }
            slot = (slot + 1) & mask
        }
    }

    /// Adds an edge that does not exist yet.
    mutating func insert(from parent: Int32, by label: UnsafeBufferPointer<UInt8>, to child: Int32) {
        if (count + 1) * 2 > slots.count { grow() }
        let edge = Edge(
            hash: hash(parent, label, 0, label.count),
            parent: parent,
            child: child,
            labelStart: Int32(labels.count),
            labelCount: Int32(label.count)
        )
        labels.append(contentsOf: label)
        place(edge)
        count += 1
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: .free, count: old.count * 2)
        for edge in old where edge.child >= 0 { place(edge) }
    }

    private mutating func place(_ edge: Edge) {
        let mask = slots.count - 1
        var slot = Int(edge.hash) & mask
        while slots[slot].child >= 0 { slot = (slot + 1) & mask }
        slots[slot] = edge
    }

    @inline(__always)
    private func isLabel(of edge: Edge, _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Bool {
        let offset = Int(edge.labelStart)
        for index in 0..<Int(edge.labelCount) where labels[offset + index] != bytes[start + index] { return false }
        return true
    }

    /// Combines eight bytes at a time through a full-width product, as wyhash does.
    @inline(__always)
    private func hash(_ parent: Int32, _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> UInt32 {
        func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
            let product = left.multipliedFullWidth(by: right)
            return product.high ^ product.low
        }
        var state = fold(seed ^ UInt64(UInt32(bitPattern: parent)), 0x9E37_79B9_7F4A_7C15)
        var index = start
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= end {
            state = fold(state ^ raw.loadUnaligned(fromByteOffset: index, as: UInt64.self), 0xA076_1D64_78BD_642F)
            index += 8
        }
        var tail: UInt64 = 0
        while index < end {
            tail = tail << 8 | UInt64(bytes[index])
            index += 1
        }
        state = fold(state ^ tail, 0xE703_7ED1_A0B4_28DB ^ UInt64(end - start))
        return UInt32(truncatingIfNeeded: state ^ state >> 32)
    }
}
