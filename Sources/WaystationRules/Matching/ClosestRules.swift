/// The few rules that come closest to a URL that none takes, the closest first.
///
/// A rule is close when little keeps it from taking the request, a host weighing most, then the path; among equals the
/// one whose path begins like that of the URL, then the earlier one.
struct ClosestRules {
    private struct Entry {
        let mismatch: RuleMismatch
        let distance: Int
        let sharedSegments: Int

        /// Later rules come later anyway, so equals keep their order.
        func isCloser(than other: Entry) -> Bool {
            (distance, -sharedSegments) < (other.distance, -other.sharedSegments)
        }
    }

    private let limit: Int
    private let path: [Substring]
    private var entries: [Entry] = []

    init(to url: CanonicalURL, limit: Int) {
        self.limit = limit
        path = url.pathSegments
    }

    var mismatches: [RuleMismatch] { entries.map(\.mismatch) }

    mutating func insert(_ mismatch: RuleMismatch) {
        let entry = Entry(
            mismatch: mismatch,
            distance: mismatch.reasons.reduce(0) { $0 + $1.weight },
            sharedSegments: mismatch.pattern.sharedSegments(with: path)
        )
        let position = entries.firstIndex { entry.isCloser(than: $0) } ?? entries.endIndex
        guard position < limit else { return }
        entries.insert(entry, at: position)
        if entries.count > limit { entries.removeLast() }
    }
}

extension RuleMismatch.Reason {
    fileprivate var weight: Int {
        switch self {
        case .host: 16
        case .path: 8
        case .scheme, .port: 3
        case .method, .query: 2
        case .predicate: 1
        }
    }
}

extension URLPattern {
    /// Every reason why the pattern and the conditions do not take a request.
    func reasons(against request: RuleRequest, _ conditions: RuleConditions) -> [RuleMismatch.Reason] {
        let url = request.url
        var reasons: [RuleMismatch.Reason] = []
        if !takesScheme(of: url) {
            reasons.append(.scheme(expected: "\(scheme)", found: Self.shortened(url.scheme)))
        }
        if !takesHost(of: url) {
            reasons.append(.host(expected: "\(host)", found: url.host.isEmpty ? "empty" : Self.shortened(url.host)))
        }
        if !takesPort(of: url) {
            reasons.append(.port(expected: "\(port)", found: url.effectivePort.map { "\($0)" } ?? "none"))
        }
        if !takesPath(of: url) {
            reasons.append(.path(expected: pathText, found: Self.shortened(url.path)))
        }
        if let methods = conditions.methods, !methods.contains(request.method) {
            let expected = methods.isEmpty ? "any, since the rule names none" : methods.sorted().joined(separator: ", ")
            reasons.append(.method(expected: expected, found: Self.shortened(request.method[...])))
        }
        for condition in conditions.query where !condition.isMet(by: url) {
            reasons.append(.query(missing: condition))
        }
        // Asked last and alone, as when deciding.
        if reasons.isEmpty, let predicate = conditions.predicate, !predicate(request) {
            reasons.append(.predicate)
        }
        return reasons
    }

    /// How many segments at its start the path of a URL has in common with the pattern.
    fileprivate func sharedSegments(with segments: [Substring]) -> Int {
        zip(path, segments).prefix { pattern, segment in
            switch pattern {
            case .literal(let text): segment.utf8.elementsEqual(text)
            case .any: true
            case .glob, .anyDepth: false
            }
        }.count
    }

    private var pathText: String {
        path.map { segment in
            switch segment {
            case .literal(let text), .glob(let text): "/" + String(decoding: text, as: UTF8.self)
            case .any: "/*"
            case .anyDepth: "/**"
            }
        }.joined()
    }

    /// URLs come from outside and may be of any length; a message need not be.
    private static func shortened(_ text: Substring) -> String {
        text.utf8.count <= 200 ? String(text) : text.prefix(200) + "…"
    }
}
