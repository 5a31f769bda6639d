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
