extension Interceptor {
    /// Why a request is answered as it is: its rule, its source, and the arithmetic of the cache in words.
    ///
    /// Print it, or write it as JSON by an encoder of your choice:
    ///
    /// ```swift
    /// let explanation = await interceptor.explain(url)
    /// print(explanation)
    /// let json = try JSONEncoder().encode(explanation)
    /// ```
    ///
    /// It has no secrets of the URL: the values of tokens and passwords are replaced with `[redacted]`.
    public struct Explanation: Hashable, Sendable, Encodable, CustomStringConvertible {
        /// The request's method.
        public let method: String
        /// The request's URL, without secrets.
        public let url: String
        /// The decision of the rules: `allowed`, `blocked`, `openedElsewhere` or `untouched`.
        public let decision: String
        /// The index of the rule that takes the request; nil if no rule does.
        public let rule: Int?
        /// The rule in one line, such as `allow https://img.example/** via cache`; nil if no rule takes the request.
        public let ruleText: String?
        /// The file and the line of the rule, such as `Shop/Rules.swift:12`; nil if they are not known.
        public let location: String?
        /// The reasons why no rule takes the request; empty if one does.
        public let reasons: [String]
        /// The source of the answer: `pack`, `files`, `cache`, `network`, `foundation` and others; nil if the request fails,
        /// is opened elsewhere, or waits first.
        public let source: String?
        /// The answer that the request would get now, in a sentence.
        public let answer: String
        /// The arithmetic of the cache; nil if the cache was not asked, or was asked about newer files of a pack.
        public let cache: CacheExplanation?

        /// Several lines: the request, the rule or the reasons, the arithmetic, and the answer.
        public var description: String {
            var lines = ["\(method) \(url)"]
            if let rule, let ruleText {
                lines.append("rule \(rule)\(location.map { " (\($0))" } ?? ""): \(ruleText)")
            }
            lines += reasons.map { "not taken: \($0)" }
            lines += (cache?.sentences ?? []).map { "  \($0)" }
            // The last sentences of the arithmetic are the answer.
            if cache == nil { lines.append(answer) }
            return lines.joined(separator: "\n")
        }

        init(
            _ method: String,
            _ url: String,
            _ decision: Decision,
            _ rules: [Rule],
            _ answer: ExpectedAnswer,
            _ cache: CacheExplanation?
        ) {
            self.method = method
            self.url = url
            self.answer = answer.words
            self.cache = cache
            source = answer.source
            switch decision {
            case .allowed(let rule, _): (self.decision, self.rule, reasons) = ("allowed", rule, [])
            case .blocked(let rule, _): (self.decision, self.rule, reasons) = ("blocked", rule, [])
            case .openedElsewhere: (self.decision, rule, reasons) = ("openedElsewhere", nil, [])
            case .untouched(let found): (self.decision, rule, reasons) = ("untouched", nil, found)
            }
            let taken = rule.flatMap { rules.indices.contains($0) ? rules[$0] : nil }
            ruleText = taken?.inWords
            location = taken?.definition.location?.description
        }
    }
}

extension ExpectedAnswer {
    fileprivate var source: String? {
        switch self {
        case .answered(let source, _): source.description
        case .fetched, .forwarded: LoadEvent.Source.network.description
        case .handedBack, .unclaimed: LoadEvent.Source.foundation.description
        case .openedElsewhere, .failed, .delayed: nil
        }
    }
}
