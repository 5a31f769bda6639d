import ArgumentParser
import Foundation
import WaystationRecording

/// The operations that the commands share, on the directory of a crawl.
enum SiteDirectory {
    /// The settings of the crawl in the directory; nil if the directory holds no crawl.
    static func settings(in directory: URL) throws -> CrawlSettings? {
        guard Journal.exists(in: directory) else { return nil }
        return try existingJournal(in: directory).settings
    }

    /// Crawls until the crawl is complete, reaches a limit or is interrupted; Ctrl-C interrupts it.
    ///
    /// The recorder gets every load. Its file is finished when the crawl has ended, also by an interruption.
    static func crawl(
        _ settings: CrawlSettings,
        into directory: URL,
        engine: SiteSession.Engine,
        recorder: FileRecorder? = nil,
        observer: any CrawlObserver
    ) async throws -> CrawlSummary {
        let summary = try await crawl(settings, into: directory, by: engine, recorder, observer)
        do { try await recorder?.finish() } catch {
            Terminal().error("crawler: \(error.localizedDescription)")
            throw ExitCode.inputOutput
        }
        return summary
    }

    private static func crawl(
        _ settings: CrawlSettings,
        into directory: URL,
        by engine: SiteSession.Engine,
        _ recorder: FileRecorder?,
        _ observer: any CrawlObserver
    ) async throws -> CrawlSummary {
        try await sayingWhatIsWrong(with: directory) {
            try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
            let lock = try CrawlLock(in: directory)
            // The lock is released with the object, so it must live until the crawl ends.
            defer { withExtendedLifetime(lock) {} }
            let session = try SiteSession(
                .crawl,
                directory: directory,
                settings: settings,
                engine: engine,
                recorder: recorder
            )
            let journal = try Journal.open(in: directory, settleArchive: session.settle)
            try journal.save(settings)
            let result = await Interrupt.cancelling {
                try await Crawl(settings: settings, journal: journal, loader: session.loader, observer: observer).run()
            }
            await session.settle()
            return try result.get()
        }
    }

    /// Runs the offline check and keeps the outcome for the report.
    static func checkOffline(_ directory: URL, printer: OfflinePrinter) async throws -> OfflineResult {
        let journal = try existingJournal(in: directory)
        let settings = try journal.settings ?? CrawlSettings()
        let result = try await sayingWhatIsWrong(with: directory) {
            let session = try SiteSession(.offline, directory: directory, settings: settings)
            let check = OfflineCheck(settings: settings, journal: journal, loader: session.loader)
            let checked = await Interrupt.cancelling {
                try await check.run { done, total in printer.progress(done: done, total: total) }
            }
            await session.settle()
            return try checked.get()
        }
        try journal.save(result, at: Date())
        try await journal.close()
        return result
    }

    static func writeReport(on directory: URL, to file: URL) throws {
        let page = try ReportPage(data: ReportData(existingJournal(in: directory)), title: nil).html
        try Data(page.utf8).write(to: file, options: .atomic)
    }

    /// Turns any error of `body` into the exit code for directories that cannot be used, except a cancellation or wrong
    /// usage.
    private static func sayingWhatIsWrong<Value: Sendable>(
        with directory: URL,
        _ body: () async throws -> Value
    ) async throws -> Value {
        do {
            return try await body()
        } catch {
            if error is CancellationError || error is ValidationError { throw error }
            throw unusable(directory, error)
        }
    }

    private static func unusable(_ directory: URL, _ error: any Error) -> ExitCode {
        Terminal().error("crawler: \(directory.path) cannot be used: \(error.localizedDescription)")
        return .inputOutput
    }

    static func existingJournal(in directory: URL) throws -> Journal {
        guard Journal.exists(in: directory) else {
            throw ValidationError("\(directory.path) contains no crawl. Make one with: crawler crawl URL --into DIR")
        }
        do {
            return try Journal.open(in: directory)
        } catch {
            throw unusable(directory, error)
        }
    }
}
