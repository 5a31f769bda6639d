public import Foundation

/// What a check for updates has led to.
public struct UpdateReport: Sendable, CustomStringConvertible {
    /// One outcome for each module that the source named.
    public var outcomes: [ModuleOutcome]
    /// Parts of the answer that were left out because they could not be understood.
    public var problems: [PackError]
    /// Set when the source was not asked, since the last check was too short a while ago: from when on it will be.
    public var throttledUntil: Date?

    init(outcomes: [ModuleOutcome] = [], problems: [PackError] = [], throttledUntil: Date? = nil) {
        self.outcomes = outcomes
        self.problems = problems
        self.throttledUntil = throttledUntil
    }

    var failures: [(module: ModuleID, error: PackError)] {
        outcomes.compactMap { outcome in
            if case .failed(let error) = outcome.kind { (outcome.module, error) } else { nil }
        }
    }

    /// One line for each outcome and each problem.
    public var description: String {
        if let throttledUntil { return "not asked before \(throttledUntil.formatted(.iso8601))" }
        return (outcomes.map(\.description) + problems.map(\.description)).joined(separator: "\n")
    }
}

/// What happened to one module in a check.
public struct ModuleOutcome: Sendable, CustomStringConvertible {
    /// What was done.
    public enum Kind: Sendable {
        /// The offered version is in use.
        case upToDate
        /// Another version was fetched and is in use: how, the bytes fetched, and those of the whole pack when known.
        case updated(FailedUpdate.Way, fetched: Int, whole: Int?)
        /// A version that was installed already is in use now.
        case activated
        /// The server switched the module on, and its installed version is the one to use; the app's own switch may
        /// still be off.
        case enabled
        /// The server switched the module off.
        case disabled
        /// No other version was installed, and why.
        case postponed(UpdatePlan.Reason)
        /// The update did not work; what was in use is in use, except where the error is `notDurable`.
        case failed(PackError)
    }

    /// The module.
    public var module: ModuleID
    /// The version that was in use before.
    public var from: PackVersion?
    /// The version that is in use now.
    public var to: PackVersion?
    /// What was done.
    public var kind: Kind

    /// One line for a log.
    public var description: String {
        let versions = "\(module) \(from.map(\.description) ?? "none")"
        let change = versions + " → \(to.map(\.description) ?? "none")"
        switch kind {
        case .upToDate: return "\(versions) is up to date"
        case .updated(let way, let fetched, let whole):
            return "\(change) by \(way.rawValue), \(fetched) bytes" + (whole.map { " instead of \($0)" } ?? "")
        case .activated: return "\(change), which was installed"
        case .enabled: return "\(versions) switched on"
        case .disabled: return "\(versions) switched off"
        case .postponed(let reason): return "\(versions) stays: \(reason.explanation)"
        case .failed(let error): return (from == to ? "\(versions) stays" : change) + ": \(error)"
        }
    }
}

/// How far an update is.
public struct UpdateProgress: Sendable, Hashable {
    /// What is being done.
    public enum Phase: Sendable, Hashable {
        /// Bytes arrive: those that are here, and all, when that is known.
        case downloading(completed: Int, expected: Int?)
        /// The new version is being made of the installed one.
        case patching
        /// The new version is being unpacked.
        case unpacking(entries: Int, of: Int, bytes: Int, ofBytes: Int)
    }

    /// The module.
    public var module: ModuleID
    /// What is being done.
    public var phase: Phase
}
