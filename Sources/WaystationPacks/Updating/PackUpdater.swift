public import Foundation
import WaystationFileSystem

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
/// A check compares the records with the disk, asks the source, and follows its offers one after another by the cheapest
/// way. Whatever goes wrong leaves in use what was in use. A patch that does not work is followed by the whole pack in
/// the same check. What arrived damaged is fetched again after ``Configuration/retryPause``, and a version that failed its
/// trial after ``Configuration/retryInterval``.
///
/// **One check at a time.** A call while one runs waits for that one and gets its report; while another process checks, it
/// throws `busy`. Cancelling a call ends it at once, and stops the check when nobody else waits for it. What has been
/// downloaded is kept, and the next check goes on from there without waiting for its turn: this is how to pause.
///
/// **After a kill or a power cut** at any moment the next check finds the old version or the new one, and goes on.
public actor PackUpdater {
    /// The packs that are kept up to date.
    public nonisolated let library: PackLibrary
    /// The app that asks.
    public nonisolated let app: AppIdentity

    let source: any PackSource
    let configuration: Configuration
    let downloader: ArtifactDownloader
    let now: @Sendable () -> Date
    private var running: RunningCheck?

    /// An updater; it does nothing until it is told to.
    ///
    /// One for a library: a second one would ask and download side by side with it.
    ///
    /// - Parameters:
    ///   - library: The packs.
    ///   - source: Where it is known which packs there are.
    ///   - app: The app that asks.
    ///   - configuration: How the updater works.
    ///   - now: The clock, for tests; that of the library by default. ``run(every:clock:reported:)`` takes the clock that
    ///     waits between checks.
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

    /// Asks the source, unless it was asked a short while ago, and follows its offers.
    ///
    /// - Parameters:
    ///   - isForced: Whether to ask even so; false by default.
    ///   - progress: Told how far downloads and unpacking are, on any thread; it should be quick. A call that waits for a
    ///     check under way hears nothing of it.
    /// - Returns: What was done. Modules that failed are in it too.
    /// - Throws: ``PackError`` when the source could not be asked or the library cannot be written.
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
        // One that was given up has nothing to tell to someone who comes later.
        while let former = running, former.isCancelled {
            _ = await former.value()
            guard !Task.isCancelled else { throw PackError(.cancelled, "the check was cancelled before it began") }
            if running === former { running = nil }
        }
        let check: RunningCheck
        if let running {
            check = running
        } else {
            let update = Update(updater: self, isForced: isForced, interval: interval, progress: progress)
            check = RunningCheck { await update.result() }
            running = check
            Task { await end(check) }
        }
        return try await check.value().get()
    }

    private func end(_ check: RunningCheck) async {
        let outcome = await check.end()
        // Before those who wait are told: who then asks again must not get what came of this one.
        if running === check { running = nil }
        check.tell(outcome)
    }

    /// Checks again and again until the task is cancelled, and returns then.
    ///
    /// Errors of checks end nothing: they are told by ``PackEvent``s of the library, and the next check is made when it is
    /// due. Fit for a service of swift-service-lifecycle:
    /// `func run() async throws { try await updater.run(every: .seconds(300)) }`.
    ///
    /// - Parameters:
    ///   - interval: The time from the start of one check to the start of the next. It holds in place of
    ///     ``Configuration/interval``, which is for calls of ``check(isForced:progress:)``; only the server can make it
    ///     longer, by `Retry-After`. The first check is made at once, or one interval after the last one of an earlier
    ///     run. The pause behind it is longer once, by a random share up to the ``UpdateThrottle/Interval/jitter`` of
    ///     ``Configuration/interval``, so that clients which started together part. A check that takes longer than the
    ///     interval is followed by the next one that is due.
    ///   - clock: Waits between checks.
    ///   - reported: Called with the report of each check that was made.
    /// - Throws: ``PackError`` with the code `invalidArgument` when the interval is not above 0; nothing else.
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
            // Where the state cannot be read the next check tells.
            let throttle = try? await library.readUpdaterState().throttle
            var wait = throttle.map { $0.delay(at: now(), every: interval) ?? .zero } ?? interval
            if wasMade {
                wait = max(wait, interval.rest(after: begun.duration(to: clock.now)) + variation)
                variation = .zero
            }
            // A task that is cancelled waits no longer.
            try? await clock.sleep(for: wait)
        }
    }
}

extension Duration {
    /// The time to the next multiple of this interval.
    fileprivate func rest(after elapsed: Duration) -> Duration {
        guard elapsed >= self else { return self - elapsed }
        return self - .seconds(elapsed.inSeconds.truncatingRemainder(dividingBy: inSeconds))
    }
}
