import WaystationRules

/// The URLs that a server lets packs answer; an entry that is not valid allows nothing.
struct Whitelist: Sendable {
    /// The entries that are not valid, with the reason.
    let rejected: [URLPatternError]
    private let table: RuleTable<Bool>?

    init(_ urls: [String]) {
        let (rules, rejected) = RuleDefinition<Bool>.whitelist(urls, action: true)
        self.rejected = rejected
        table = try? RuleTable(rules)
    }

    func allows(_ url: CanonicalURL) -> Bool {
        table?.match(RuleRequest(url: url, method: "GET")) != nil
    }
}
