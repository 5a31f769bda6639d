#if Gateway
import Waystation
import WaystationHTTP
import WaystationFoundation
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

/// Explains the value of a `Cache-Status` field (RFC 9211) to people.
enum CacheStatusWords {
    /// The value of a `Cache-Status` field in words.
    ///
    /// - Parameter field: The value.
    /// - Returns: A sentence about Waystation's own member; empty if the field has none.
    static func words(_ field: String) -> String {
        guard let member = OwnCacheStatus.member(of: field) else { return "" }
        let parts = parameters(of: member)
        var values: [String: String] = [:]
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard let name = pair.first else { continue }
            values[name] = pair.count == 2 ? pair[1] : ""
        }
        var words = values["hit"] != nil ? "Answered without the network" : forwarded(values)
        if let seconds = values["ttl"].flatMap({ Int($0) }) {
            let span = span(seconds.magnitude)
            words += seconds > 0 ? "; fresh for \(span) more" : "; stale since \(span)"
        }
        if let detail = values["detail"] { words += " (\(detail))" }
        return words + "."
    }

    private static func forwarded(_ values: [String: String]) -> String {
        let reason =
            switch values["fwd"] {
            case "bypass"?: "The rule does not use the cache"
            case "method"?: "Requests with this method are always sent to the origin"
            case "uri-miss"?: "Nothing was stored for the URL"
            case "vary-miss"?: "Only responses for other request fields were stored"
            case "miss"?: "No stored response could be used"
            case "request"?: "The request did not allow the stored response"
            case "stale"?: "The stored response was stale"
            case "partial"?: "The stored response had only a part"
            case let other?: "The request was forwarded: \(other)"
            case nil: "The cache gave no reason"
            }
        var words = reason + ", so the origin was asked"
        if values["fwd-status"] == nil, values["ttl"] != nil { words += "; it gave no answer" }
        if values["fwd-status"] == "304" { words += "; the stored response is still valid" }
        if values["stored"] != nil { words += "; the response was stored" }
        if values["collapsed"] != nil { words += "; it shared a request that was under way" }
        return words
    }

    /// A time in words.
    private static func span(_ seconds: UInt) -> String {
        switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }

    /// The parts of a member between semicolons that are outside of quotes.
    private static func parameters(of member: Substring) -> [String] {
        member.utf8.splitOutsideQuotes(at: UInt8(ascii: ";")).map { String(Substring($0.trimmingSpace())) }
    }
}
#endif
