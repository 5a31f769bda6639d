import WaystationRules

extension Rule {
    /// A warning for each base URL of files below which the rule's pattern takes no URL.
    func basesOutside(_ pattern: URLPattern, rule index: Int) -> [RuleWarning] {
        guard case .allow(let route, _) = definition.action else { return [] }
        return route.bases.compactMap { base in
            guard let url = CanonicalURL(base), !pattern.takesSomething(below: url) else { return nil }
            let folder = base.hasSuffix("/") ? base : base + "/"
            return RuleWarning(
                .baseOutsidePattern,
                rule: index,
                pattern: definition.pattern,
                location: definition.location,
                message: """
                    the rule's files are at \(base), but its pattern takes no URL there, so none of them is ever \
                    served; write `\(folder)**` as the pattern, or serve the files at a URL that the pattern takes
                    """
            )
        }
    }
}

extension Route {
    /// The base URLs of the route's files, in the order in which they are asked.
    fileprivate var bases: [String] {
        switch kind {
        case .network, .cache, .carried, .nowhere: []
        case .files(_, let base, let otherwise): [base] + otherwise.bases
        case .pack(_, let otherwise): otherwise.bases
        }
    }
}
