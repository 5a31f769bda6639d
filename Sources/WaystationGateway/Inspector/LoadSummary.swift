#if Gateway
import Foundation
import Waystation
import WaystationRecording

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
    let isCancelled: Bool
    /// The reason why the gateway did not serve the request; nil if it did.
    let refusal: String?

    init(_ load: LoadLog.Load) {
        let exchange = load.exchange
        number = load.number
        method = exchange.request.httpMethod ?? "GET"
        url = Redaction.standard.url(exchange.request.url?.absoluteString ?? "")
        rule = exchange.rule
        source = exchange.source?.description
        status = exchange.response?.statusCode
        bytes = exchange.bodyLength
        begun = exchange.begun
        milliseconds = exchange.duration * 1_000
        cache = exchange.response?.value(forHTTPHeaderField: "Cache-Status").map(CacheStatusWords.words) ?? ""
        switch load.ending {
        case .ended:
            error = exchange.error.map { Redaction.standard.text($0.reason) }
            (isCancelled, refusal) = (false, nil)
        case .cancelled: (error, isCancelled, refusal) = (nil, true, nil)
        case .refused(let reason): (error, isCancelled, refusal) = (nil, false, Redaction.standard.text(reason))
        }
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
    let preview: BodyPreview
    /// The answer that the same request would get now, in a sentence.
    let next: String?
    /// The arithmetic of the cache behind it, a sentence each.
    let arithmetic: [String]

    init(_ load: LoadLog.Load, _ rules: [Rule], next: Interceptor.Explanation?) {
        let exchange = load.exchange
        self.load = LoadSummary(load)
        let rule = exchange.rule.flatMap { rules.indices.contains($0) ? rules[$0] : nil }
        ruleText = rule?.inWords
        reasons = LoadReasons.reasons(for: load, rule: rule)
        requestFields = Self.hidden(exchange.request.allHTTPHeaderFields ?? [:])
        responseFields = Self.hidden(exchange.response?.allHeaderFields as? [String: String] ?? [:])
        waitMilliseconds = exchange.wait * 1_000
        preview = BodyPreview(load)
        self.next = next.map { Redaction.standard.text($0.answer) }
        arithmetic = next?.cache?.sentences ?? []
    }

    private static func hidden(_ fields: [String: String]) -> [[String]] {
        fields.sorted { $0.key.lowercased() < $1.key.lowercased() }
            .map { [$0.key, Redaction.standard.value($0.value, ofField: $0.key)] }
    }
}
#endif
