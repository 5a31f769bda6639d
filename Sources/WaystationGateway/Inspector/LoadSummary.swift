#if Gateway
import Foundation
import FoundationNetworking
import Waystation
import WaystationRecording

/// A load in the list.
struct LoadSummary: Encodable, Sendable {
    let number: Int
    let method: String
    let url: String
    let rule: Int?
    let source: String?
    let status: Int?
    let bytes: Int
    let begun: Date
    let milliseconds: Double
    /// The decision of the cache in words.
    let cache: String
    let error: String?

    init(_ load: LoadLog.Load) {
        let exchange = load.exchange
        number = load.number
        method = exchange.request.httpMethod ?? "GET"
        let plain = exchange.request.url?.absoluteString ?? ""
        let hidden = Redaction.standard.url(plain)
        url = hidden
        rule = exchange.rule
        source = exchange.source?.description
        status = exchange.response?.statusCode
        bytes = exchange.bodyLength
        begun = exchange.begun
        milliseconds = exchange.duration * 1_000
        cache = exchange.response?.value(forHTTPHeaderField: "Cache-Status").map(CacheStatusWords.words) ?? ""
        // Messages name the URL, which may have a secret in its query.
        error = exchange.error.map { plain.isEmpty ? $0.reason : $0.reason.replacing(plain, with: hidden) }
    }
}

/// A load with its fields, whose secrets are hidden.
struct LoadDetails: Encodable, Sendable {
    let load: LoadSummary
    /// The rule as the app wrote it.
    let ruleText: String?
    /// Why this source answered, a sentence each.
    let reasons: [String]
    let requestFields: [[String]]
    let responseFields: [[String]]
    /// The time until the response began.
    let waitMilliseconds: Double

    init(_ load: LoadLog.Load, _ rules: [Rule]) {
        let exchange = load.exchange
        self.load = LoadSummary(load)
        let rule = exchange.rule.flatMap { rules.indices.contains($0) ? rules[$0] : nil }
        ruleText = rule.map { RuleRow(exchange.rule ?? 0, $0, []).text }
        reasons = LoadReasons.reasons(for: exchange, rule: rule)
        requestFields = Self.hidden(exchange.request.allHTTPHeaderFields ?? [:])
        responseFields = Self.hidden(exchange.response?.allHeaderFields as? [String: String] ?? [:])
        waitMilliseconds = exchange.wait * 1_000
    }

    private static func hidden(_ fields: [String: String]) -> [[String]] {
        fields.sorted { $0.key.lowercased() < $1.key.lowercased() }
            .map { [$0.key, Redaction.standard.value($0.value, ofField: $0.key)] }
    }
}

extension URLError {
    /// The message of the library's own error, if that is the cause.
    fileprivate var reason: String {
        (userInfo[NSUnderlyingErrorKey] as? WaystationError)?.message ?? localizedDescription
    }
}
#endif
