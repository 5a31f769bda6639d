public import Foundation

/// The result of a check for updates.
public struct UpdateReport: Sendable, CustomStringConvertible {
    /// One outcome for each module that the source named.
    public var outcomes: [ModuleOutcome]
    /// Parts of the answer that were left out since they are not valid.
    public var problems: [PackError]
    /// The time from which the source may be asked again; set when it was not asked because the last check was too
    /// recent.
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

/// The outcome of a check for one module.
public struct ModuleOutcome: Sendable, CustomStringConvertible {
    /// The kind of an outcome.
    public enum Kind: Sendable {
        /// The offered version is in use.
        case upToDate
        /// Another version was fetched and is in use: the way, the bytes fetched, and the bytes of the whole pack if
        /// known.
        case updated(FailedUpdate.Way, fetched: Int, whole: Int?)
        /// A version that was installed already was activated.
        case activated
        /// The server switched the module on, and its installed version is the right one; the app's own switch may
        /// still be off.
        case enabled
        /// The server switched the module off.
        case disabled
        /// No other version was installed, for this reason.
        case postponed(UpdatePlan.Reason)
        /// The update failed; the version in use stays in use, except when the error is `notDurable`.
        case failed(PackError)
    }

    /// The module.
    public var module: ModuleID
    /// The version that was in use before.
    public var from: PackVersion?
    /// The version that is in use now.
    public var to: PackVersion?
    /// The kind of the outcome.
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

/// The progress of an update.
public struct UpdateProgress: Sendable, Hashable {
    /// The phase of an update.
    public enum Phase: Sendable, Hashable {
        /// The artifact is being downloaded: bytes so far, and in total if known.
        case downloading(completed: Int, expected: Int?)
        /// The new version is being made from the installed one and a patch.
        case patching
        /// The new version is being unpacked.
        case unpacking(entries: Int, of: Int, bytes: Int, ofBytes: Int)
    }

    /// The module.
    public var module: ModuleID
    /// The present phase.
    public var phase: Phase
}
