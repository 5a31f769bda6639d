/// The conditions of a rule beyond scheme, host, port and path.
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

extension RuleConditions {
    /// Returns true if every request that meets the other conditions is certain to meet these too.
    func cover(_ other: RuleConditions) -> Bool {
        guard predicate == nil else { return false }
        if let methods {
            guard let found = other.methods, found.isSubset(of: methods) else { return false }
        }
        return query.allSatisfy { condition in other.query.contains { condition.follows(from: $0) } }
    }
}

extension QueryCondition {
    /// Returns true if every URL that meets the other condition meets this one too.
    fileprivate func follows(from other: QueryCondition) -> Bool {
        switch (self, other) {
        case (.present(let name), .present(let found)), (.present(let name), .equals(let found, _)): name == found
        case (.equals, .equals): self == other
        case (.equals, .present): false
        }
    }
}
