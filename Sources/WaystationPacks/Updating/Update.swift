import Foundation
import WaystationHTTP
import WaystationStorage

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

/// The state that an updater keeps between runs, in `updater.json` beside the modules; replaced as a whole by a rename.
///
/// `updater-copy.json` is a second copy from the last change of the catalogue: the number of the newest catalogue keeps
/// older ones from being accepted, and must not be lost with one file.
struct UpdaterState: Codable, Equatable, Sendable {
    static let maximumSize = 1 << 20

    /// A random identifier of this installation, for gradual rollouts.
    var installID = UUID().uuidString
    var throttle = UpdateThrottle()
    var catalogue: CatalogueState?
    /// Set while offers are followed: after an interruption, the next check need not wait for the interval.
    var isUnfinished: Bool?

    /// Whether another state of the updater has the same catalogue and the same installation ID, which must not be lost.
    fileprivate func remembersSame(as other: UpdaterState?) -> Bool {
        catalogue == other?.catalogue && installID == other?.installID
    }
}

/// The result of reading one of the two files.
private enum StateFile {
    case missing
    case damaged(String)
    case sound(UpdaterState)

    var state: UpdaterState? {
        if case .sound(let state) = self { state } else { nil }
    }

    var damage: String? {
        if case .damaged(let reason) = self { reason } else { nil }
    }
}

extension PackLibrary {
    /// Reads the updater's state; from the copy if its file is damaged or missing, and a new state if the copy is too.
    ///
    /// Damage is reported as an event. Of the catalogues that the two files know, the newer one counts.
    func readUpdaterState() async throws(PackError) -> UpdaterState {
        let (file, copy) = try await blocking("reading \(layout.updater)") { [self] in
            (try readStateFile(layout.updater), try readStateFile(layout.updaterCopy))
        }
        if let damage = file.damage {
            let rest =
                copy.state == nil
                ? "the record of the last catalogue is lost: until a newer one is accepted, an older one "
                    + "that has not expired may lead back to earlier versions"
                : "the last catalogue is read from \(layout.updaterCopy)"
            tell(.damaged, nil, nil, "\(layout.updater) \(damage); \(rest)")
        }
        if let damage = copy.damage { tell(.damaged, nil, nil, "\(layout.updaterCopy) \(damage); it is written again") }
        if case .missing = file, copy.state != nil {
            tell(.damaged, nil, nil, "\(layout.updater) is missing; \(layout.updaterCopy) is used")
        }
        var state = file.state ?? copy.state ?? UpdaterState()
        if let newer = copy.state?.catalogue, newer.serial > state.catalogue?.serial ?? 0 { state.catalogue = newer }
        return state
    }

    /// Writes both files, the copy first; the copy only if the fields that must not be lost have changed.
    func write(_ state: UpdaterState) async throws(PackError) {
        try await blocking("writing \(layout.updater)") { [self] in
            let json = try ModuleRecord.encoder.encode(state)
            if try !state.remembersSame(as: readStateFile(layout.updaterCopy).state) {
                try environment.fileSystem.replaceFile(layout.updaterCopy, with: json)
            }
            try environment.fileSystem.replaceFile(layout.updater, with: json)
        }
    }

    private func readStateFile(_ path: String) throws -> StateFile {
        do {
            guard let json = try environment.fileSystem.readFile(path, limit: UpdaterState.maximumSize) else {
                return .missing
            }
            return .sound(try ModuleRecord.decoder.decode(UpdaterState.self, from: json))
        } catch let error as DecodingError {
            return .damaged("cannot be read: \(error)")
        } catch let error as FileError where error.code == EOVERFLOW {
            return .damaged("is larger than \(UpdaterState.maximumSize) bytes")
        }
    }
}
