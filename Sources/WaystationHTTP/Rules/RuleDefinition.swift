/// One rule as an app writes it: which requests it matches, and what to do with them.
///
/// A rule matches a request when the pattern, the method, every query condition and the predicate match it. The rule is
/// checked only when a ``RuleTable`` is made from it.
public struct RuleDefinition<Action: Sendable>: Sendable {
    /// The text of a ``URLPattern``.
    public var pattern: String

    /// The methods that the rule matches; `nil` for every method.
    ///
    /// Default: `nil`.
    public var methods: Set<String>?

    /// Query items that must be present in addition to those of the pattern.
    ///
    /// Default: none.
    public var query: [QueryCondition]

    /// The last condition: called only when everything else matches the request.
    ///
    /// Default: none. Called for decisions and for explanations, any number of times and on any thread, so it must have
    /// no side effect, not block, and not start loads.
    public var predicate: (@Sendable (RuleRequest) -> Bool)?

    /// The action for a matching request.
    public var action: Action

    /// The place where the rule was written, for messages.
    public var location: RuleLocation?

    /// Describes a rule.
    ///
    /// The place of this call is kept for messages.
    public init(
        _ pattern: String,
        methods: Set<String>? = nil,
        query: [QueryCondition] = [],
        action: Action,
        fileID: String = #fileID,
        line: Int = #line,
        where predicate: (@Sendable (RuleRequest) -> Bool)? = nil
    ) {
        self.pattern = pattern
        self.methods = methods
        self.query = query
        self.predicate = predicate
        self.action = action
        location = RuleLocation(fileID: fileID, line: line)
    }
}

/// A place in source code, shown as `App/Rules.swift:12`.
public struct RuleLocation: Sendable, Hashable, CustomStringConvertible {
    /// The module and the file, as `#fileID` gives them.
    public let fileID: String

    /// The line, counted from 1.
    public let line: Int

    /// Makes a place from the values of `#fileID` and `#line`.
    public init(fileID: String, line: Int) {
        self.fileID = fileID
        self.line = line
    }

    /// The file and the line, joined by a colon.
    public var description: String { "\(fileID):\(line)" }
}

extension RuleDefinition {
    /// Makes rules from the URLs that a server wants intercepted, in their order.
    ///
    /// - An entry without a glob matches that URL with any query: `https://shop.example/app/index.html`.
    /// - An entry whose path ends in `/` matches that URL and everything below it: `https://shop.example/app/`.
    /// - Globs and query items mean what they mean in a ``URLPattern``.
    ///
    /// - Returns: The rules of the valid entries, and the error of each other entry; an invalid entry does not affect
    ///   the valid ones.
    public static func whitelist(
        _ urls: [String],
        methods: Set<String>? = nil,
        action: Action,
        fileID: String = #fileID,
        line: Int = #line
    ) -> (rules: [RuleDefinition], rejected: [URLPatternError]) {
        var rules: [RuleDefinition] = []
        var rejected: [URLPatternError] = []
        for url in urls {
            do throws(URLPatternError) {
                // The entry is parsed as written, so that an error shows the server's entry without the added `**`.
                let entry = try URLPattern(url)
                let pattern = entry.endsInFolder ? url + "**" : url
                rules.append(
                    RuleDefinition(pattern, methods: methods, action: action, fileID: fileID, line: line)
                )
            } catch {
                rejected.append(error)
            }
        }
        return (rules, rejected)
    }
}

extension URLPattern {
    /// Whether the text ends in a path that ends in a slash.
    ///
    /// A `**` there takes the place of the empty last segment, so the text with it is a valid pattern too.
    fileprivate var endsInFolder: Bool {
        let tail = text[authorityEnd...].utf8
        return tail.last == UInt8(ascii: "/") && !tail.contains(UInt8(ascii: "?"))
    }
}

/// The decision of a table of rules about a request, and the reasons for it.
public enum RuleDecision<Action: Sendable>: Sendable {
    /// The rule at `index`, counted from 0, is the first that matches the request.
    case matched(index: Int, pattern: URLPattern, action: Action)

    /// No rule matches; has the rules that come closest, the closest first, at most five.
    case unmatched(_ closest: [RuleMismatch])
}

extension RuleDecision: CustomStringConvertible {
    /// The decision as text for people, one line for each rule.
    public var description: String {
        switch self {
        case .matched(let index, let pattern, _):
            "rule \(index) `\(pattern)` matched"
        case .unmatched(let closest) where closest.isEmpty:
            "no rule matched: the table has no rules"
        case .unmatched(let closest):
            (["no rule matched; the closest:"] + closest.map { "  \($0)" }).joined(separator: "\n")
        }
    }
}

/// The parts of a request that rules can check.
public struct RuleRequest: Sendable {
    /// The request's URL.
    public let url: CanonicalURL

    /// The method of the request.
    ///
    /// `get`, `head`, `post`, `put`, `delete` and `options` are upper-cased as in Fetch; other methods keep their case,
    /// since methods are case-sensitive (RFC 9110 §9.1).
    public let method: String

    /// Returns a header field of the request by its name, for predicates; `nil` when the fields are not known.
    public let field: (@Sendable (String) -> String?)?

    /// Describes a request.
    ///
    /// `method` defaults to `GET`, `field` to `nil`.
    public init(url: CanonicalURL, method: String = "GET", field: (@Sendable (String) -> String?)? = nil) {
        self.url = url
        self.method = Self.normalizedMethod(method)
        self.field = field
    }

    // https://fetch.spec.whatwg.org/#concept-method-normalize
    static func normalizedMethod(_ method: String) -> String {
        guard method.utf8.contains(where: { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) else { return method }
        let upper = method.uppercased()
        return ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"].contains(upper) ? upper : method
    }
}

/// A rule that does not match a request, and every reason for it.
public struct RuleMismatch: Sendable, Hashable {
    /// One part of the rule that does not match its part of the request.
    ///
    /// `expected` and `found` are phrases for a person.
    public enum Reason: Sendable, Hashable {
        /// The scheme is a different one.
        case scheme(expected: String, found: String)
        /// The host is a different one.
        case host(expected: String, found: String)
        /// The port is a different one.
        case port(expected: String, found: String)
        /// The pattern does not match the path.
        case path(expected: String, found: String)
        /// The rule does not have the method.
        case method(expected: String, found: String)
        /// A query item is missing or has another value.
        case query(missing: QueryCondition)
        /// Everything else matches the request, but the predicate does not.
        case predicate
    }

    /// The position of the rule in its table, counted from 0.
    public let index: Int

    /// The pattern of the rule.
    public let pattern: URLPattern

    /// The place where the rule was written, when known.
    public let location: RuleLocation?

    /// The reasons why the rule does not match the request; never empty.
    public let reasons: [Reason]
}

extension RuleMismatch: CustomStringConvertible {
    /// The rule, the place where it was written, and its reasons, on one line.
    public var description: String {
        let place = location.map { " (\($0))" } ?? ""
        return "rule \(index) `\(pattern)`\(place): \(reasons.map(\.description).joined(separator: "; "))"
    }
}

extension RuleMismatch.Reason: CustomStringConvertible {
    /// The reason as a phrase.
    public var description: String {
        switch self {
        case .scheme(let expected, let found): "scheme is \(found), not \(expected)"
        case .host(let expected, let found): "host is \(found), not \(expected)"
        case .port(let expected, let found): "port is \(found), not \(expected)"
        case .path(let expected, let found): "path is \(found), not \(expected)"
        case .method(let expected, let found): "method is \(found.shown()), not \(expected)"
        case .query(let missing): "query has no \(missing)"
        case .predicate: "its predicate returned false"
        }
    }
}

/// The error for a table with invalid patterns; it has every one of them.
public struct RuleTableError: CodedError, Hashable {
    /// The kind of the error; later releases may add more.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name.
        public let description: String

        /// Patterns of rules are not valid.
        public static let invalidRules = Code(description: "invalidRules")
    }

    /// One rule that cannot be used.
    public struct Problem: Sendable, Hashable {
        /// The position of the rule in the list given, counted from 0.
        public let index: Int

        /// The place where the rule was written, when known.
        public let location: RuleLocation?

        /// The error in the rule's pattern.
        public let error: URLPatternError

        /// Makes a problem of a rule and its error.
        public init(index: Int, location: RuleLocation?, error: URLPatternError) {
            self.index = index
            self.location = location
            self.error = error
        }
    }

    /// The problems in the order of the rules; never empty when thrown by ``RuleTable``.
    public let problems: [Problem]

    /// Always ``Code/invalidRules``.
    public var code: Code { .invalidRules }

    /// Makes an error with these problems.
    public init(problems: [Problem]) {
        self.problems = problems
    }
}

extension RuleTableError {
    /// Each problem with the number of its rule, the place where it was written, and the position in the pattern.
    public var message: String { problems.map(\.description).joined(separator: "\n") }

    /// The message.
    public var description: String { message }
}

extension RuleTableError.Problem: CustomStringConvertible {
    /// The number, place and error of the rule: `rule 3 (App/Rules.swift:12): URL pattern not understood: …`.
    public var description: String {
        "rule \(index)\(location.map { " (\($0))" } ?? ""): \(error)"
    }
}
