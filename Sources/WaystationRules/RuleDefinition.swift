/// One rule as an app writes it: which requests, and what to do with them.
///
/// A request is taken when the pattern, the method, every query condition and the predicate take it. Nothing is checked
/// before a ``RuleTable`` is made of it.
public struct RuleDefinition<Action: Sendable>: Sendable {
    /// The text of a ``URLPattern``.
    public var pattern: String

    /// The methods that are taken, `nil` for every one.
    ///
    /// Default: `nil`.
    public var methods: Set<String>?

    /// Query items that must be there beside those of the pattern.
    ///
    /// Default: none.
    public var query: [QueryCondition]

    /// The last resort: asked only when all else has taken the request.
    ///
    /// Default: none. Called for decisions and for explanations, any number of times and on any thread, so it must have
    /// no side effect, not block, and not start loads.
    public var predicate: (@Sendable (RuleRequest) -> Bool)?

    /// What to do with a request that is taken.
    public var action: Action

    /// Where the rule was written, for messages.
    public var location: RuleLocation?

    /// Describes a rule.
    ///
    /// The place of the call is kept for messages.
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
    /// Module and file, as `#fileID` gives them.
    public let fileID: String

    /// The line, counted from 1.
    public let line: Int

    /// Names a place; see `#fileID` and `#line`.
    public init(fileID: String, line: Int) {
        self.fileID = fileID
        self.line = line
    }

    /// File and line joined by a colon.
    public var description: String { "\(fileID):\(line)" }
}
