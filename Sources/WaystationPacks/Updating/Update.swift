import Foundation
import WaystationFields
import WaystationFileSystem

/// One check, from comparing the records with the disk to the last offer.
struct Update: Sendable {
    let updater: PackUpdater
    let isForced: Bool
    /// The caller's own time between checks; nil for that of the configuration.
    let interval: Duration?
    let progress: @Sendable (UpdateProgress) -> Void

    var library: PackLibrary { updater.library }
    var configuration: PackUpdater.Configuration { updater.configuration }
    var now: Date { updater.now() }

    func result() async -> Result<UpdateReport, PackError> {
        do throws(PackError) {
            return .success(try await BlockingWork.run { () throws(PackError) in try await run() })
        } catch {
            return .failure(error)
        }
    }

    private func run() async throws(PackError) -> UpdateReport {
        let lock = try await library.blocking("locking \(library.layout.updaterLock)") {
            try library.environment.fileSystem.lock(library.layout.updaterLock)
        }
        guard let lock else {
            throw PackError(.busy, "another updater is working in \(library.layout.root): try again later")
        }
        defer { withExtendedLifetime(lock) {} }
        return try await runAlone()
    }

    private func runAlone() async throws(PackError) -> UpdateReport {
        let begun = now
        // Other processes may have changed the library, or confirmed a version.
        try await library.refresh()
        var state = try await library.readUpdaterState()
        try await settleTrials()
        // An interrupted check is continued without waiting, and asks the source again.
        if !isForced, state.isUnfinished != true, let delay = delay(state.throttle, at: begun) {
            return UpdateReport(throttledUntil: begun.addingTimeInterval(delay.inSeconds))
        }
        _ = try await library.reconcile()
        let inquiry = inquiry(state)
        let answer: UpdateAnswer
        do {
            answer = try await ask(inquiry)
        } catch {
            if Task.isCancelled {
                // Like a check that is cancelled later: the next one continues it without waiting.
                state.isUnfinished = true
            } else {
                // A source that failed is asked again after the interval, also if an earlier check was interrupted.
                state.isUnfinished = nil
                recordCheck(in: &state, at: begun, retryAfter: error.retryAfter)
            }
            try await library.write(state)
            throw error
        }
        // The state of the catalogue is stored before any offer is followed: once a catalogue has been acted on, an
        // older one must not be accepted.
        state.catalogue = answer.catalogueState ?? state.catalogue
        recordCheck(in: &state, at: begun, retryAfter: answer.retryAfter)
        state.isUnfinished = true
        try await library.write(state)

        var report = UpdateReport(problems: answer.problems)
        for offer in answer.offers {
            let outcome = await OfferFollower(update: self, inquiry: inquiry, offer: offer).follow()
            if Task.isCancelled {
                throw PackError(.cancelled, "the check was cancelled; the next check continues it")
            }
            report.outcomes.append(outcome)
            // The check may still be cancelled, or fail to write its state, and then has no report.
            if case .failed(let error) = outcome.kind { library.tell(.updateFailed, offer.module, nil, "\(error)") }
        }
        let failures = report.failures
        // A file server may ask the client to wait, just like the source.
        if let longest = failures.compactMap(\.error.retryAfter).max() {
            recordCheck(in: &state, at: begun, retryAfter: max(longest, answer.retryAfter ?? .zero))
        }
        state.isUnfinished = nil
        try await library.write(state)
        // Partial files that are not offered any more only take up space; those of failed updates are kept for the next
        // check.
        if failures.isEmpty {
            let wanted = answer.offers.flatMap { [$0.archive].compactMap(\.self) + $0.patches.map(\.artifact) }
            try? await updater.downloader.discardAll(except: wanted)
        }
        return report
    }

    func ask(_ inquiry: UpdateInquiry) async throws(PackError) -> UpdateAnswer {
        do {
            return try await updater.source.check(inquiry)
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(.network, "the update server could not be asked: see the cause", cause: error)
        }
    }

    private func inquiry(_ state: UpdaterState) -> UpdateInquiry {
        let installed = library.modules
        let known = Set(installed.map(\.module))
        return UpdateInquiry(
            app: updater.app,
            modules: installed.map { module in
                let sound = module.active.flatMap { $0.isDamaged ? nil : $0 }
                return UpdateInquiry.Module(module.module, version: sound?.version, isActive: module.isEnabled)
            } + configuration.modules.filter { !known.contains($0) }.map { UpdateInquiry.Module($0) },
            installID: state.installID,
            catalogueState: state.catalogue
        )
    }

    private func delay(_ throttle: UpdateThrottle, at now: Date) -> Duration? {
        interval.map { throttle.delay(at: now, every: $0) } ?? throttle.delay(at: now)
    }

    /// Records the check.
    ///
    /// The server's `retryAfter` counts from now, but the recorded time is the check's start.
    private func recordCheck(in state: inout UpdaterState, at begun: Date, retryAfter: Duration?) {
        var random = SystemRandomNumberGenerator()
        let taken = Duration.seconds(max(0, now.timeIntervalSince(begun)))
        state.throttle.recordCheck(
            at: begun,
            retryAfter: retryAfter.map { $0 + taken },
            interval: configuration.interval,
            using: &random
        )
    }

    /// Rolls back versions that the app has not confirmed in time.
    private func settleTrials() async throws(PackError) {
        guard let window = configuration.healthWindow else { return }
        let limits = TrialLimits(window: window, starts: configuration.healthStarts)
        for module in library.modules {
            try await library.settleTrial(of: module.module, limits, retryingAfter: configuration.retryInterval)
        }
    }
}
