import ArgumentParser
import Foundation

/// The operations that the commands share, on the directory of a crawl.
enum SiteDirectory {
    /// The settings of the crawl that the directory holds; nil when it holds none.
    static func settings(in directory: URL) throws -> CrawlSettings? {
        guard Journal.exists(in: directory) else { return nil }
        return try Journal.open(in: directory).settings
    }

    /// Crawls until done, limited or interrupted; Ctrl-C interrupts.
    static func crawl(
        _ settings: CrawlSettings, into directory: URL, observer: any CrawlObserver
    ) async throws -> CrawlSummary {
        let journal = try Journal.open(in: directory)
        try journal.save(settings)
        let session = try SiteSession(.crawl, directory: directory, settings: settings)
        let result = await Interrupt.cancelling {
            try await Crawl(settings: settings, journal: journal, loader: session.loader, observer: observer).run()
        }
        await session.close()
        return try result.get()
    }

    /// Checks offline and keeps the outcome for the report.
    static func checkOffline(_ directory: URL, printer: OfflinePrinter) async throws -> OfflineResult {
        let journal = try existingJournal(in: directory)
        let settings = try journal.settings ?? CrawlSettings()
        let session = try SiteSession(.offline, directory: directory, settings: settings)
        let check = OfflineCheck(settings: settings, journal: journal, loader: session.loader)
        let checked = await Interrupt.cancelling {
            try await check.run { done, total in printer.progress(done: done, total: total) }
        }
        await session.close()
        let result = try checked.get()
        try journal.save(result, at: Date())
        try await journal.close()
        return result
    }

    static func writeReport(on directory: URL, to file: URL) throws {
        let page = try ReportPage(data: ReportData(existingJournal(in: directory)), title: nil).html
        try Data(page.utf8).write(to: file, options: .atomic)
    }

    static func existingJournal(in directory: URL) throws -> Journal {
        guard Journal.exists(in: directory) else {
            throw ValidationError("\(directory.path) holds no crawl. Make one with: crawler crawl URL --into DIR")
        }
        return try Journal.open(in: directory)
    }
}
