#if Gateway
import Foundation
import Waystation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Explains why a load was answered from its source.
enum LoadReasons {
    /// The reasons, a sentence each.
    static func reasons(for load: LoadLog.Load, rule: Rule?) -> [String] {
        let exchange = load.exchange
        if case .refused = load.ending { return ["The gateway refused the request, so no load began."] }
        var reasons: [String] = []
        switch (exchange.rule, rule) {
        case (let index?, let rule?):
            reasons.append("Rule \(index) takes the request: \(rule.definition.pattern).")
        case (let index?, nil): reasons.append("Rule \(index) takes the request.")
        case (nil, _): reasons.append("No rule takes the request.")
        }
        if case .cancelled = load.ending {
            reasons.append("The browser or the app cancelled the load before its end.")
        } else {
            reasons.append(source(of: exchange))
        }
        if let status = exchange.response?.value(forHTTPHeaderField: "Cache-Status"), !status.isEmpty {
            reasons.append(CacheStatusWords.words(status))
        }
        return reasons
    }

    private static func source(of exchange: RecordedExchange) -> String {
        if exchange.error != nil, exchange.response == nil { return "The load failed before a response arrived." }
        return switch exchange.source {
        case .pack?: "An installed pack has the file."
        case .files?: "The directory of the rule has the file."
        case .cache?: "A stored response answered; the network was not needed for its body."
        case .network?: "The origin answered over the network."
        case .foundation?: "The task was handed back to Foundation's own loader."
        case let source?: "The source is \(source)."
        case nil where exchange.error != nil: "The load failed after its response had begun."
        case nil: "The response is a redirect, which the load follows."
        }
    }
}
#endif
