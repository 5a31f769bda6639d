/// What a rule asks beyond scheme, host, port and path.
struct RuleConditions: Sendable {
    let methods: Set<String>?
    let query: [QueryCondition]
    let predicate: (@Sendable (RuleRequest) -> Bool)?

    var isEmpty: Bool { methods == nil && query.isEmpty && predicate == nil }

    func areMet(by request: RuleRequest) -> Bool {
        if let methods, !methods.contains(request.method) { return false }
        if !query.allSatisfy({ $0.isMet(by: request.url) }) { return false }
        return predicate?(request) ?? true
    }
}
