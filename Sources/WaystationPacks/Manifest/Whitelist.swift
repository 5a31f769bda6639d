import WaystationRules

/// The URLs that a server lets packs answer; an entry that is not valid allows nothing.
struct Whitelist: Sendable {
    /// The entries that are not valid, with the reason.
    let rejected: [URLPatternError]
    private let table: RuleTable<Bool>?

    init(_ urls: [String]) {
        let (rules, rejected) = RuleDefinition<Bool>.whitelist(urls, action: true)
        let refused = Self.problems(of: rules)
        let sound = rules.indices.filter { refused[$0] == nil }.map { rules[$0] }
        self.rejected = rejected + refused.sorted { $0.key < $1.key }.map(\.value)
        table = try? RuleTable(sound)
    }

    /// The errors of rules that were parsed but do not fit the table: a folder's pattern is extended, and may become
    /// too deep.
    private static func problems(of rules: [RuleDefinition<Bool>]) -> [Int: URLPatternError] {
        do throws(RuleTableError) {
            _ = try RuleTable(rules)
            return [:]
        } catch {
            return Dictionary(error.problems.map { ($0.index, $0.error) }) { first, _ in first }
        }
    }

    func allows(_ url: CanonicalURL) -> Bool {
        table?.match(RuleRequest(url: url, method: "GET")) != nil
    }
}
