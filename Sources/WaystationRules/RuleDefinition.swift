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
