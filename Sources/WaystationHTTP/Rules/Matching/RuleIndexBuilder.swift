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
