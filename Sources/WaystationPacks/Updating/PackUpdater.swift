import Foundation
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
/// the same check, and is left alone for ``Configuration/retryInterval``.
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
    private var running: RunningCheck?

    /// An updater; it does nothing until it is told to.
    ///
    /// One for a library: a second one would ask and download side by side with it.
    public init(
        library: PackLibrary,
        source: any PackSource,
        app: AppIdentity,
        configuration: Configuration = Configuration()
    ) {
        self.library = library
        self.source = source
        self.app = app
        self.configuration = configuration
        downloader = ArtifactDownloader(
            directory: URL(fileURLWithPath: library.layout.downloads, isDirectory: true),
            fetcher: configuration.fetcher,
            files: library.environment.fileSystem,
            now: library.environment.now
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
            let update = Update(updater: self, isForced: isForced, progress: progress)
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
    ///   - interval: The time from the end of one check to the next, longer by up to the share that
    ///     ``UpdateThrottle/Interval/jitter`` of ``Configuration/interval`` says. It does not ask the source more often
    ///     than ``Configuration/interval`` allows, or than the server does by `Retry-After`.
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
        while !Task.isCancelled {
            do {
                let report = try await check()
                if report.throttledUntil == nil { reported(report) }
            } catch {
                if !Task.isCancelled { library.tell(.updateFailed, nil, nil, "\(error)") }
            }
            // A task that is cancelled waits no longer.
            try? await clock.sleep(for: await pause(atLeast: interval))
        }
    }

    /// How long to wait after a check.
    private func pause(atLeast interval: Duration) async -> Duration {
        var random = SystemRandomNumberGenerator()
        let varied = configuration.interval.varied(interval, using: &random)
        // Where the state cannot be read the next check tells.
        guard let state = try? await library.readUpdaterState() else { return varied }
        return max(varied, state.throttle.delay(at: library.environment.now()) ?? .zero)
    }
}
