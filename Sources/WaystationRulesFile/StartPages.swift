import WaystationRules

extension RulesFile {
    /// The pages at which a user begins: those that the file names, otherwise one for each rule that answers pages, in the
    /// order of the rules.
    ///
    /// A rule's page is the base URL of its files, or its pattern up to the first star; a pattern whose host has a star
    /// has no page.
    package var startPages: [String] {
        if !gateway.start.isEmpty { return gateway.start }
        var pages: [String] = []
        for rule in rules where rule.sources != nil && rule.methods?.contains("GET") != false {
            for page in rule.bases + rule.patterns.compactMap(Self.page) where !pages.contains(page) {
                pages.append(page)
                if !rule.bases.isEmpty { break }
            }
        }
        return pages
    }

    private static func page(_ pattern: String) -> String? {
        let bare = pattern.prefix { $0 != "?" }
        let fixed = bare.prefix { !"*[{".contains($0) }
        guard let authority = fixed.firstRange(of: "://"), let page = CanonicalURL(String(fixed)) else { return nil }
        guard page.scheme == "http" || page.scheme == "https" else { return nil }
        guard fixed.count < bare.count else { return page.string }
        guard let slash = fixed[authority.upperBound...].lastIndex(of: "/") else { return nil }
        return CanonicalURL(String(fixed[...slash]))?.string
    }
}

extension RuleSetting {
    fileprivate var bases: [String] {
        (sources ?? []).compactMap { source in
            guard case .files(_, let base) = source else { return nil }
            return base.hasSuffix("/") ? base : base + "/"
        }
    }
}
