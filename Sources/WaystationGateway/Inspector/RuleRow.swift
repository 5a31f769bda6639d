#if Gateway
import Foundation
import Waystation
import WaystationRecording

/// A rule as the inspector lists it.
struct RuleRow: Encodable, Sendable {
    let index: Int
    let pattern: String
    /// Nil for all methods.
    let methods: [String]?
    /// Further conditions.
    let conditions: [String]
    /// `block`, or the sources of the answers.
    let action: String
    let needsLogin: Bool
    /// The place in the app's code.
    let location: String?
    let warnings: [String]

    init(_ index: Int, _ rule: Rule, _ warnings: [String]) {
        let definition = rule.definition
        self.index = index
        self.warnings = warnings
        pattern = definition.pattern
        methods = definition.methods?.sorted()
        location = definition.location?.description
        conditions =
            definition.query.map { condition in
                switch condition {
                case .present(let name): "has the query item \(name)"
                case .equals(let name, let value): "has the query item \(name)=\(value)"
                }
            } + (definition.predicate == nil ? [] : ["a condition in code"])
        switch definition.action {
        case .block:
            action = "block"
            needsLogin = false
        case .allow(let route, let login):
            action = route.description
            needsLogin = login != nil
        }
    }
}

/// The decision of the rules about a URL.
struct DecisionRow: Encodable, Sendable {
    /// `allowed`, `blocked`, `openedElsewhere` or `untouched`.
    let decision: String
    let rule: Int?
    /// The reasons why no rule takes the request.
    let reasons: [String]
    /// The URL at the gateway; nil if the gateway does not serve the request.
    let gatewayURL: String?
    /// The answer that the request would get now, in a sentence; nil if no rule allows it.
    let next: String?
    /// The arithmetic of the cache behind it, a sentence each.
    let arithmetic: [String]

    init(_ explanation: Interceptor.Explanation, gatewayURL: String?) {
        (decision, rule, reasons) = (explanation.decision, explanation.rule, explanation.reasons)
        let isAllowed = decision == "allowed"
        self.gatewayURL = isAllowed ? gatewayURL : nil
        next = isAllowed ? Redaction.standard.text(explanation.answer) : nil
        arithmetic = explanation.cache?.sentences ?? []
    }
}
#endif
