/// The few rules that come closest to a URL that no rule matches, the closest first.
///
/// A rule is close when few parts of it fail to match; a host weighs most, then the path. Among equally close rules,
/// the one whose path shares more leading segments with the URL comes first, then the earlier one.
struct ClosestRules {
    private struct Entry {
        let mismatch: RuleMismatch
        let distance: Int
        let sharedSegments: Int

        /// Rules are inserted in their order, so equally close ones keep it.
        func isCloser(than other: Entry) -> Bool {
            (distance, -sharedSegments) < (other.distance, -other.sharedSegments)
        }
    }

    private let limit: Int
    private let path: [Substring]
    private var entries: [Entry] = []

    init(to url: CanonicalURL, limit: Int) {
        self.limit = limit
        path = url.plain.pathSegments
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
    /// Every reason why the pattern and the conditions do not match a request.
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
            let expected = methods.isEmpty ? "in the empty set of methods" : methods.sorted().joined(separator: ", ")
            reasons.append(.method(expected: expected, found: Self.shortened(request.method[...])))
        }
        for condition in conditions.query where !condition.isMet(by: url) {
            reasons.append(.query(missing: condition))
        }
        // The predicate is called last, and only when everything else matches, as when deciding.
        if reasons.isEmpty, let predicate = conditions.predicate, !predicate(request) {
            reasons.append(.predicate)
        }
        return reasons
    }

    /// The number of leading segments that a URL's path has in common with the pattern.
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
            case .literal(let text), .glob(let text): "/" + Self.shown(text)
            case .any: "/*"
            case .anyDepth: "/**"
            }
        }.joined()
    }

    /// The bytes of a segment in the syntax of patterns.
    private static func shown(_ segment: [UInt8]) -> String {
        segment.reduce(into: "") { shown, byte in
            switch byte {
            case PathSegmentPattern.star: shown += "*"
            case UInt8(ascii: "*"): shown += "%2A"
            default: shown.unicodeScalars.append(Unicode.Scalar(byte))
            }
        }
    }

    /// URLs come from outside and may have any length, so messages shorten them.
    private static func shortened(_ text: Substring) -> String {
        text.utf8.count <= 200 ? String(text) : text.prefix(200) + "…"
    }
}
