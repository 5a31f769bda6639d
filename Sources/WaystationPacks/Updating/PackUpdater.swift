public import Foundation
import WaystationFields
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
