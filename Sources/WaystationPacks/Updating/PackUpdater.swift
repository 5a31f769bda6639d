public import Foundation
import Synchronization
public import WaystationArchive
import WaystationHTTP
import WaystationStorage

/// Keeps a library's packs up to date.
///
/// ```swift
/// let updater = PackUpdater(
///     library: packs,
///     source: .catalogue(at: endpoint, trusting: [releaseKey]),
///     app: AppIdentity(code: "shop", version: version)
/// )
/// try await updater.run(every: .seconds(300))  // resident, until its task is cancelled; or
/// let report = try await updater.check()  // once
/// ```
///
/// A check compares the records with the disk, asks the source, and follows its offers one after another by the
/// cheapest way. When something fails, the active versions stay active. When a patch fails, the whole pack is fetched
/// in the same check. A damaged download is fetched again after ``Configuration/retryPause``, and a version that failed
/// its trial after ``Configuration/retryInterval``.
///
/// **One check at a time.** A call during a check waits for that check and returns its report; while another process
/// checks, it throws `busy`. Cancelling a call ends it at once, and stops the check if no other call waits for it.
/// Downloaded bytes are kept, and the next check resumes at once, regardless of the interval: this is how to pause.
///
/// **After a kill or a power cut** at any moment, the next check finds the old version or the new one, and continues.
public actor PackUpdater {
    /// The library that is kept up to date.
    public nonisolated let library: PackLibrary
    /// The app that asks for updates.
    public nonisolated let app: AppIdentity

    let source: any PackSource
    let configuration: Configuration
    let downloader: ArtifactDownloader
    let now: @Sendable () -> Date
    private var running: RunningCheck?

    /// Makes an updater, which does nothing until a method is called.
    ///
    /// Make only one for each library: a second one would make its own requests and downloads.
    ///
    /// - Parameters:
    ///   - library: The library to keep up to date.
    ///   - source: The source of updates.
    ///   - app: The app that asks for updates.
    ///   - configuration: The settings.
    ///   - now: The clock, for tests; the library's clock by default. ``run(every:clock:reported:)`` has a separate
    ///     clock for waiting between checks.
    public init(
        library: PackLibrary,
        source: any PackSource,
        app: AppIdentity,
        configuration: Configuration = Configuration(),
        now: (@Sendable () -> Date)? = nil
    ) {
        let now = now ?? library.environment.now
        self.now = now
        self.library = library
        self.source = source
        self.app = app
        self.configuration = configuration
        downloader = ArtifactDownloader(
            directory: URL(fileURLWithPath: library.layout.downloads, isDirectory: true),
            fetcher: configuration.fetcher,
            files: library.environment.fileSystem,
            now: now
        )
    }

    /// Asks the source, unless the last check was a short while ago, and follows its offers.
    ///
    /// - Parameters:
    ///   - isForced: Whether to ask even then; false by default.
    ///   - progress: Called with the progress of downloads and unpacking, on any thread; it should be quick. It is not
    ///     called if this call waits for a check that is already running.
    /// - Returns: The outcomes, including those of modules that failed.
    /// - Throws: ``PackError`` when the source cannot be asked or the library cannot be written.
    public func check(
        isForced: Bool = false,
        progress: @escaping @Sendable (UpdateProgress) -> Void = { _ in }
    ) async throws(PackError) -> UpdateReport {
        try await check(isForced: isForced, every: nil, progress: progress)
    }

    private func check(
        isForced: Bool,
        every interval: Duration?,
        progress: @escaping @Sendable (UpdateProgress) -> Void
    ) async throws(PackError) -> UpdateReport {
        while true {
            let check: RunningCheck
            if let running {
                check = running
            } else {
                let update = Update(updater: self, isForced: isForced, interval: interval, progress: progress)
                check = RunningCheck { await update.result() }
                running = check
                Task { await end(check) }
            }
            if let outcome = await check.value() { return try outcome.get() }
            // That check was cancelled. It has no result for later callers, so they begin a new one after its end.
            if running === check { running = nil }
        }
    }

    private func end(_ check: RunningCheck) async {
        let outcome = await check.end()
        // The check is removed before the waiting calls return, because a call that follows must start a new check.
        if running === check { running = nil }
        check.finish(outcome)
    }

    /// Checks repeatedly until the task is cancelled, and then returns.
    ///
    /// An error of a check does not end the loop: it is reported as a ``PackEvent`` of the library, and the next check
    /// is made when it is due. Suitable as a service of swift-service-lifecycle:
    /// `func run() async throws { try await updater.run(every: .seconds(300)) }`.
    ///
    /// - Parameters:
    ///   - interval: The time from the start of one check to the start of the next. It replaces
    ///     ``Configuration/interval``, which is for calls of ``check(isForced:progress:)``; only the server can extend
    ///     it, by `Retry-After`. The first check is made at once, or one interval after the last check of an earlier
    ///     run. The first pause is extended once by a random share of up to the ``UpdateThrottle/Interval/jitter`` of
    ///     ``Configuration/interval``, which spreads the checks of clients that started together. After a check that
    ///     takes longer than the interval, the next check is made at the next multiple of the interval.
    ///   - clock: The clock for waiting between checks.
    ///   - reported: Called with the report of each check that was made.
    /// - Throws: ``PackError`` with the code `invalidArgument` when the interval is not above 0; no other error.
    public func run(
        every interval: Duration,
        clock: some Clock<Duration> = ContinuousClock(),
        reported: @escaping @Sendable (UpdateReport) -> Void = { _ in }
    ) async throws(PackError) {
        guard interval > .zero else {
            throw PackError(
                .invalidArgument,
                "an updater cannot run every \(interval): use a time above 0, such as 300 s"
            )
        }
        var random = SystemRandomNumberGenerator()
        var variation = configuration.interval.varied(interval, using: &random) - interval
        while !Task.isCancelled {
            let begun = clock.now
            var wasMade = true
            do {
                let report = try await check(isForced: false, every: interval) { _ in }
                wasMade = report.throttledUntil == nil
                if wasMade { reported(report) }
            } catch {
                if !Task.isCancelled { library.tell(.updateFailed, nil, nil, "\(error)") }
            }
            // If the state cannot be read, the next check reports the error.
            let throttle = try? await library.readUpdaterState().throttle
            var wait = throttle.map { $0.delay(at: now(), every: interval) ?? .zero } ?? interval
            if wasMade {
                wait = max(wait, interval.rest(after: begun.duration(to: clock.now)) + variation)
                variation = .zero
            }
            // A cancelled task stops waiting, and the loop ends.
            try? await clock.sleep(for: wait)
        }
    }
}

extension Duration {
    /// The remaining time until the next multiple of this interval.
    fileprivate func rest(after elapsed: Duration) -> Duration {
        guard elapsed >= self else { return self - elapsed }
        return self - .seconds(elapsed.inSeconds.truncatingRemainder(dividingBy: inSeconds))
    }
}

extension PackUpdater {
    /// The settings of an updater.
    public struct Configuration: Sendable {
        /// Fetches files and answers; by default with one long-lived plain session.
        public var fetcher: any PackFetching = URLSessionFetcher()
        /// Decides which conditions the present network fulfils; by default by the interface of the default route.
        public var networkProbe: any NetworkProbe = DefaultRouteProbe()
        /// Finds the cheapest way to an offered version.
        public var planner = UpdatePlanner()
        /// Modules to ask for that have no pack yet; none by default.
        ///
        /// Not needed for a source that always answers with all modules. For a module without a pack that is not listed
        /// here, the server's switch and whitelist are not stored: they count from its first update on.
        public var modules: [ModuleID] = []
        /// The minimum time between two checks by ``PackUpdater/check(isForced:progress:)``; by default five minutes,
        /// extended by up to a tenth.
        ///
        /// ``PackUpdater/run(every:clock:reported:)`` has its own interval, and uses only the random extension of this
        /// one.
        public var interval = UpdateThrottle.Interval()
        /// The time in which the app must confirm a new version by ``PackLibrary/confirm(_:version:)``.
        ///
        /// Nil by default: new versions need no confirmation. A version that is not confirmed in time is rolled back at
        /// the next check. The time is measured within one run of the app, from its first check with the version, by a
        /// monotonic clock; it starts again with each run, see ``healthStarts``.
        public var healthWindow: Duration?
        /// How often the app may start with a version without confirming it; three times by default.
        ///
        /// The version is rolled back at the first check of the next start. This covers a version with which the app
        /// always crashes before ``healthWindow`` is over. Only used if ``healthWindow`` is set.
        public var healthStarts = 3
        /// How long the updater skips a version that failed its trial; a day by default.
        ///
        /// After this time, the updater tries the version again. Another pack with the same version number is tried at
        /// once.
        public var retryInterval: Duration = .seconds(86_400)
        /// How long the updater skips a download or patch that was damaged, or did not match what was announced.
        ///
        /// A minute by default, doubled after each further failure, an hour at most. A file that the server announces
        /// with another digest is tried at once.
        public var retryPause = RetryPause()
        /// The limits beyond which a downloaded or patched zip is refused; the defaults of `ZipLimits` by default.
        public var zipLimits = ZipLimits()
        /// Describes packs without a manifest; called for their zips.
        ///
        /// By default the version is the offer's, else the one in the zip's file name (`shop-1.4.2.zip`), else one made
        /// from the zip's digest (`0-9e107d9d372b`). The files are served below the offer's base URLs. If it names
        /// none, they are served below the folders at which most of them are on the offer's whitelist.
        public var describe: @Sendable (ModuleOffer) -> PackDescription? = PackDescription.init(of:)

        /// Makes a configuration with the defaults.
        public init() {}
    }
}

/// A check that is running, and the calls that wait for it.
final class RunningCheck: Sendable {
    typealias Outcome = Result<UpdateReport, PackError>

    /// The end of the check; the outcome is nil if the check was abandoned.
    private struct Ending {
        let outcome: Outcome?
    }

    private struct State {
        var waiters: [Int: CheckedContinuation<Outcome?, Never>] = [:]
        var lastWaiter = 0
        var ending: Ending?
        /// Whether the last waiting call has left: the check is cancelled, and its outcome is of no use to other calls.
        var isAbandoned = false
    }

    private let task: Task<Outcome, Never>
    private let state = Mutex(State())

    init(_ work: @escaping @Sendable () async -> Outcome) { task = Task { await work() } }

    /// Waits for the check's end, and returns its outcome.
    func end() async -> Outcome { await task.value }

    /// Passes the outcome to all waiting calls.
    func finish(_ outcome: Outcome) {
        let (waiters, ending) = state.withLock { state in
            let ending = Ending(outcome: state.isAbandoned ? nil : outcome)
            state.ending = ending
            defer { state.waiters = [:] }
            return (state.waiters.values.map(\.self), ending)
        }
        for waiter in waiters { waiter.resume(returning: ending.outcome) }
    }

    /// Waits for the outcome.
    ///
    /// A cancelled caller stops waiting; when the last caller is cancelled, so is the check.
    ///
    /// - Returns: The outcome; nil if the check had been cancelled before this call, and has ended now.
    func value() async -> Outcome? {
        let id = state.withLock { state in
            state.lastWaiter += 1
            return state.lastWaiter
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let ending = state.withLock { state in
                    if state.ending == nil { state.waiters[id] = waiter }
                    return state.ending
                }
                if let ending { waiter.resume(returning: ending.outcome) }
                if Task.isCancelled { leave(id) }
            }
        } onCancel: {
            leave(id)
        }
    }

    private func leave(_ id: Int) {
        let (waiter, isLast) = state.withLock { state in
            let waiter = state.waiters.removeValue(forKey: id)
            let isLast = waiter != nil && state.waiters.isEmpty
            if isLast { state.isAbandoned = true }
            return (waiter, isLast)
        }
        if isLast { task.cancel() }
        waiter?.resume(
            returning: .failure(PackError(.cancelled, "the check was cancelled; the next check continues it"))
        )
    }
}
