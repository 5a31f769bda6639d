import Foundation
import Synchronization

/// How long and how often a version may run without being confirmed.
struct TrialLimits: Sendable {
    /// How long in one run of the app.
    var window: Duration
    /// In how many runs.
    var starts: Int
}

/// A trial as one process sees it: the same version that is tried again later is another one.
struct Trial: Hashable, Sendable {
    let module: ModuleID
    let folder: String
    let since: Date
}

extension PackLibrary {
    /// Lets a version of a record begin anew, on trial if that is asked for: its first start is this one.
    func begin(_ folder: String, of module: ModuleID, in record: inout ModuleRecord, onTrial isOnTrial: Bool) {
        // To whole seconds, as records hold them.
        let now = Date(timeIntervalSince1970: environment.now().timeIntervalSince1970.rounded(.down))
        record.begin(folder, onTrial: isOnTrial, at: now)
        guard record.version(inFolder: folder)?.trialSince != nil else { return }
        note(Trial(module: module, folder: folder, since: now))
    }

    /// Lets the time of a trial begin anew that this process has seen: the app cannot confirm what did not answer.
    func restartTrial(of module: ModuleID, in record: ModuleRecord) {
        guard let current = record.version(inFolder: record.active), let since = current.trialSince else { return }
        let trial = Trial(module: module, folder: current.folder, since: since)
        if state.withLock({ $0.trials[trial] }) != nil { note(trial) }
    }

    /// Notes since when a trial runs here, in place of the module's earlier ones.
    private func note(_ trial: Trial) {
        let uptime = environment.uptime()
        state.withLock { state in
            state.trials = state.trials.filter { $0.key.module != trial.module }
            state.trials[trial] = uptime
        }
    }

    /// Rolls the active version back if the app has not confirmed it in time, or in none of so many starts.
    ///
    /// The window is counted by a clock that nobody can set, and anew in each process. So a clock that is set forward
    /// takes no time away from the app, and one that is set back gives none to a bad version; and a version with which
    /// the app ends before its time is up goes after a number of starts. A process's first call for a trial is a start.
    /// While the module is switched off, or its version is below the lowest one, neither time nor starts count.
    func settleTrial(
        of module: ModuleID,
        _ limits: TrialLimits,
        retryingAfter retryInterval: Duration
    ) async throws(PackError) {
        try await update(module) { library, record -> (version: PackVersion, reason: String)? in
            guard let current = record.version(inFolder: record.active), let since = current.trialSince else {
                return nil
            }
            let trial = Trial(module: module, folder: current.folder, since: since)
            guard record.isServing else {
                library.restartTrial(of: module, in: record)
                return nil
            }
            let reason: String
            if let begun = library.state.withLock({ $0.trials[trial] }) {
                guard library.environment.uptime() - begun > limits.window else { return nil }
                reason = "the app did not confirm it within \(limits.window)"
            } else {
                let starts = current.trialStarts ?? 0
                guard starts >= limits.starts else {
                    record.change(current.folder) { $0.trialStarts = starts + 1 }
                    library.note(trial)
                    return nil
                }
                reason = "the app did not confirm it in \(starts) starts"
            }
            let now = library.environment.now()
            record.giveUp(current, reason: reason, retryAt: now.addingTimeInterval(retryInterval.inSeconds), at: now)
            return (current.version, reason)
        } telling: { given in
            if let given { self.tell(.rolledBack, module, given.version, given.reason) }
        }
    }
}
