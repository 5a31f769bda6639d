import WaystationRules

/// The URLs that a server lets packs answer; what is not understood of it allows nothing.
struct Whitelist: Sendable {
    private let table: RuleTable<Bool>?

    init(_ urls: [String]) {
        table = try? RuleTable(RuleDefinition<Bool>.whitelist(urls, action: true).rules)
    }

    func allows(_ url: CanonicalURL) -> Bool {
        table?.match(RuleRequest(url: url, method: "GET")) != nil
    }
}
