import Foundation
import HTTPTypes
import WaystationHTTP

/// The sentences of a ``Interceptor/CacheExplanation``.
enum CacheArithmetic {
    /// The key of the request if it is not just its URL, and that of a stored response with another query.
    static func key(of request: CacheRequest, by rule: CacheKey, _ selection: StoredSelection?) -> [String] {
        let target = request.message.path ?? ""
        var parts: [String] = []
        let ignored = rule.query.namesIgnored(in: target)
        if !ignored.isEmpty {
            parts.append("without \(ignored.map { $0.quoted() }.joined(separator: ", ")) of its query")
        }
        if rule.query.isSorted, target.contains("&") { parts.append("with its query sorted") }
        if request.key.additions.contains("key") { parts.append("with a text that the rule adds") }
        if rule.includesBody(of: request.key.method) { parts.append("with a digest of its body") }
        var sentences = parts.isEmpty ? [] : ["The key of the request is its URL, \(parts.joined(separator: ", "))."]
        if let selection, selection.head.key != request.key, let rule = NoVarySearch(selection.head.headerFields),
            request.key.searched(by: rule) == selection.head.key
        {
            sentences.append(
                "The stored response also answers requests with some other queries, by its No-Vary-Search."
            )
        }
        return sentences
    }

    /// The stored responses, and the one that fits the request, with the bytes that it has if it is not whole.
    static func found(_ count: Int, _ selection: StoredSelection?, _ completion: Completion?) -> [String] {
        let stored = "\(count) \(count == 1 ? "response is" : "responses are") stored for the URL"
        guard let head = selection?.head ?? completion?.head else {
            return [count == 0 ? "No response is stored for the URL." : "\(stored), but none fits the request."]
        }
        if let held = head.held, let total = head.contentLength {
            return ["\(stored): of the \(total) bytes of the whole, \(held.inWords) are stored."]
        }
        let part = head.partBytes.map { part in
            " It has \([part.bytes].inWords) of \(part.total.map(String.init) ?? "an unknown number")."
        }
        let found = count == 1 ? "The stored response has" : "\(stored). The one that fits has"
        return ["\(found) the status \(head.status).\(part ?? "")"]
    }

    /// The names by which the response is purged together with others (RFC 9875 §2); none if it has none.
    static func labels(of head: StoredHead) -> [String] {
        func sentence(_ kind: String, _ names: [String]) -> [String] {
            guard !names.isEmpty else { return [] }
            let list = names.map { $0.quoted() }.joined(separator: ", ")
            return ["The response's \(kind)\(names.count == 1 ? " is" : "s are") \(list)."]
        }
        return sentence("tag", head.tags) + sentence("group", head.groups)
    }

    /// The age, the lifetime, and the field from which each is known (RFC 9111 §4.2).
    static func freshness(of head: StoredHead, now: Date, _ rules: CachingRules) -> [String] {
        let freshness = head.freshness(now: now, rules: rules)
        var sentences: [String] = []
        let resident = Duration.seconds(now.timeIntervalSince(head.responseTime)).wholeSeconds
        if freshness.isAgeKnown {
            let onArrival = freshness.age - max(resident, .zero)
            sentences.append(
                onArrival > .zero
                    ? "The response's age is \(freshness.age.inWords): \(onArrival.inWords) when it arrived, "
                        + "by its Age and Date fields, "
                        + "and \(max(resident, .zero).inWords) since then."
                    : "The response's age is \(freshness.age.inWords), the time since it arrived."
            )
        } else {
            sentences.append(
                "The response's age is unknown: "
                    + "by this machine's clock it arrives only in \((.zero - resident).inWords)."
            )
        }
        sentences.append(lifetime(freshness, rules))
        let left = freshness.timeToLive
        if freshness.isFresh {
            sentences.append("By its fields the response is fresh for \(left.inWords) more.")
        } else if freshness.isAgeKnown, freshness.basis != .none {
            sentences.append("By its fields the response has been stale for \((.zero - left).inWords).")
        } else {
            sentences.append("By its fields the response is stale.")
        }
        if head.needsValidation {
            sentences.append(
                "An unsafe request, such as a POST, has invalidated the stored response, so the origin must confirm it first."
            )
        }
        if head.cacheControl.noCache == .response {
            sentences.append(
                "The response's directive no-cache demands that the origin confirms the response each time."
            )
        }
        if head.cacheControl.mustRevalidate {
            sentences.append(
                "The response's directive must-revalidate forbids the use of the response while it is stale."
            )
        }
        return sentences
    }

    private static func lifetime(_ freshness: Freshness, _ rules: CachingRules) -> String {
        let lifetime = freshness.lifetime.inWords
        return switch freshness.basis {
        case .maxAge: "The response's lifetime is \(lifetime), by max-age of its Cache-Control field."
        case .expires: "The response's lifetime is \(lifetime), the time from its Date to its Expires field."
        case .heuristic:
            "The response's lifetime is \(lifetime), an estimate: "
                + "\(Int((rules.heuristicFraction * 100).rounded())) % of the time from "
                + "its Last-Modified to its Date field, and \(rules.heuristicMaximum.inWords) at most."
        case .purge: "The response's lifetime has ended after \(lifetime), because the response was purged softly then."
        case .none: "The response has no lifetime: no field names one, and the cache does not estimate one."
        }
    }

    /// The arithmetic of a strategy with a limit of its own.
    static func limit(
        of strategy: CacheStrategy,
        _ selection: StoredSelection,
        now: Date,
        _ rules: CachingRules
    ) -> [String] {
        guard let limit = strategy.limit else { return [] }
        let rule = "The strategy serves the response until it arrived \(limit.inWords) ago, whatever its fields say"
        let resident = Duration.seconds(now.timeIntervalSince(selection.head.responseTime))
        guard resident >= .zero - rules.clockTolerance else {
            return [
                "\(rule): it does not serve it now, "
                    + "because by this machine's clock the response arrives only in \((.zero - resident).inWords)."
            ]
        }
        let arrived = max(resident, .zero)
        if selection.head.staleFrom != nil, case .cacheFirst = strategy.kind {
            return [
                "The strategy does not serve the response before the origin has confirmed it, because it was purged."
            ]
        }
        return arrived < limit
            ? ["\(rule): for \((limit - arrived).roundedUp.inWords) more."]
            : ["\(rule): that was \((arrived - limit).wholeSeconds.inWords) ago."]
    }

    /// The next step.
    static func next(_ decision: CacheDecision, now: Date) -> [String] {
        switch decision {
        case .serve(let selection, let revalidation):
            let answer = "The cache answers with the status \(selection.parts.status), without the network"
            guard let revalidation else { return ["\(answer)."] }
            return ["\(answer), and asks the origin in the background\(condition(revalidation))."]
        case .fetch(let fetch):
            let asked = fetch.completion.map { " for \($0.missing.inWords) alone" } ?? condition(fetch.revalidation)
            var sentences = ["\(fetch.reason.inWords): the origin is asked\(asked)."]
            if fetch.standIn(now: now) != nil {
                let late = fetch.timeout.map { ", or does not begin to answer within \($0.inWords)" } ?? ""
                sentences.append("If the origin cannot be reached\(late), the stored response answers.")
            } else {
                sentences.append("If the origin cannot be reached, the load fails.")
            }
            return sentences
        case .gatewayTimeout: return ["The request accepts only a stored response (only-if-cached): the answer is 504."]
        case .unavailable: return ["No usable response is stored, and the origin must not be asked: the load fails."]
        case .bypass: return ["The request is sent to the origin without the cache, and nothing is stored."]
        }
    }

    /// The fields by which the origin is asked whether the stored response is still valid.
    private static func condition(_ revalidation: Revalidation?) -> String {
        guard let revalidation, revalidation.isConditional else { return " for the whole response" }
        let fields = revalidation.request.headerFields
        let parts =
            [fields[.ifNoneMatch].map { "If-None-Match: \($0)" }]
            + [fields[.ifModifiedSince].map { "If-Modified-Since: \($0)" }]
        return " with " + parts.compactMap(\.self).joined(separator: " and ")
    }
}

extension [Range<Int>] {
    /// Spans of bytes in words, such as `the bytes 0-99 and 200-299`.
    fileprivate var inWords: String {
        let spans = map { "\($0.lowerBound)-\($0.upperBound - 1)" }
        let list = spans.count < 3 ? spans : spans.prefix(2) + ["\(spans.count - 2) more spans"]
        return "the bytes " + list.joined(separator: list.count == 2 ? " and " : ", ")
    }
}

extension CacheStatus.ForwardReason {
    /// The reason as the beginning of a sentence.
    var inWords: String {
        switch self {
        case .bypass: "The rule does not use the cache"
        case .method: "Requests with this method are always sent to the origin"
        case .uriMiss: "Nothing is stored for the URL"
        case .varyMiss: "Only responses for other request fields are stored"
        case .miss: "No stored response can be used"
        case .request: "The request or the rule wants a new answer"
        case .stale: "The stored response is stale"
        case .partial: "Only a part of the response is stored"
        }
    }
}

extension Freshness {
    /// Whether the age could be calculated; it cannot if the clock went back.
    var isAgeKnown: Bool { age.components.seconds < 1 << 31 }
}

extension Duration {
    var wholeSeconds: Duration { .seconds(components.seconds) }

    var roundedUp: Duration { components.attoseconds > 0 ? .seconds(components.seconds + 1) : self }

    /// The time as people write it, such as `6 d 22 h 5 s`; parts of a second only below a second.
    var inWords: String {
        let seconds = components.seconds
        guard seconds.magnitude > 0 else {
            let milliseconds = components.attoseconds / 1_000_000_000_000_000
            return milliseconds == 0 ? "0 s" : "\(milliseconds) ms"
        }
        let parts = [
            (seconds / 86_400, "d"), (seconds % 86_400 / 3_600, "h"),
            (seconds % 3_600 / 60, "min"), (seconds % 60, "s"),
        ]
        return parts.filter { $0.0 != 0 }.map { "\($0.0) \($0.1)" }.joined(separator: " ")
    }
}
