import Foundation
import Synchronization
import WaystationFields

/// How long and how often a version may run without being confirmed.
struct TrialLimits: Sendable {
    /// The time in one run of the app.
    var window: Duration
    /// The number of runs.
    var starts: Int
}

/// One trial of a version in this process; a later trial of the same version is a different value.
struct Trial: Hashable, Sendable {
    let module: ModuleID
    let folder: String
    let since: Date
}

extension PackLibrary {
    /// Starts a version's time as the active one, on trial if asked for; this start of the app counts as the trial's
    /// first.
    func begin(_ folder: String, of module: ModuleID, in record: inout ModuleRecord, onTrial isOnTrial: Bool) {
        // The time is rounded to whole seconds, since records hold no fractions.
        let now = Date(timeIntervalSince1970: environment.now().timeIntervalSince1970.rounded(.down))
        record.begin(folder, onTrial: isOnTrial, at: now)
        guard record.version(inFolder: folder)?.trialSince != nil else { return }
        note(Trial(module: module, folder: folder, since: now))
    }

    /// Restarts the clock of a trial that this process has seen: the app cannot confirm a version that did not answer.
    func restartTrial(of module: ModuleID, in record: ModuleRecord) {
        guard let current = record.version(inFolder: record.active), let since = current.trialSince else { return }
        let trial = Trial(module: module, folder: current.folder, since: since)
        if state.withLock({ $0.trials[trial] }) != nil { note(trial) }
    }

    /// Records the start of a trial in this process, in place of the module's earlier trials.
    private func note(_ trial: Trial) {
        let uptime = environment.uptime()
        state.withLock { state in
            state.trials = state.trials.filter { $0.key.module != trial.module }
            state.trials[trial] = uptime
        }
    }

    /// Rolls the active version back if the app has not confirmed it in time, or not in the allowed number of starts.
    ///
    /// The time is measured by a monotonic clock, and starts again in each process. So setting the time of day forward
    /// takes no time away from the app, and setting it back gives none to a bad version. A version with which the app
    /// always ends before the time is up is rolled back after a number of starts. A process's first call for a trial
    /// counts as a start. While the module is switched off, or its version is below the lowest usable one, neither time
    /// nor starts count.
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
                reason = "the app did not confirm the version within \(limits.window)"
            } else {
                let starts = current.trialStarts ?? 0
                guard starts >= limits.starts else {
                    record.change(current.folder) { $0.trialStarts = starts + 1 }
                    library.note(trial)
                    return nil
                }
                reason = "the app did not confirm the version in \(starts) starts"
            }
            let now = library.environment.now()
            record.giveUp(current, reason: reason, retryAt: now.addingTimeInterval(retryInterval.inSeconds), at: now)
            return (current.version, reason)
        } telling: { given in
            if let given { self.tell(.rolledBack, module, given.version, given.reason) }
        }
    }
}
