import Foundation
import WaystationHTTP

/// Prints a crawl for people: a progress bar on a terminal, otherwise a line for each document.
struct CrawlPrinter: CrawlObserver {
    let terminal: Terminal
    let isQuiet: Bool

    func observe(_ event: CrawlEvent) {
        switch event {
        case .began(let settings, let known):
            guard !isQuiet else { return }
            let sites = settings.startURLs.joined(separator: " ")
            terminal.line(known > 0 ? "continuing \(sites): \(Words.count(known)) URLs known" : "crawling \(sites)")
        case .settled(let record, let progress):
            settled(record, progress)
        case .disallowed(let url):
            if !isQuiet, !terminal.isInteractive { terminal.line("robots  \(url)") }
        case .retrying(let url, let reason, _, let delay):
            guard !isQuiet else { return }
            terminal.line("retry in \(Words.seconds(delay / .seconds(1)))  \(url)  (\(reason))")
        case .ended(let summary):
            terminal.clearStatus()
            for line in Self.lines(summary) { terminal.line(line) }
        }
    }

    private func settled(_ record: LoadRecord, _ progress: CrawlProgress) {
        guard !isQuiet else { return }
        let status = record.status.map(String.init) ?? "---"
        if !terminal.isInteractive {
            let detail = record.error.map { "  (\($0))" } ?? ""
            let size = Words.bytes(record.size)
            let padding = String(repeating: " ", count: max(0, 8 - size.count))
            return terminal.line("\(status)  \(padding)\(size)  \(record.url)\(detail)")
        }
        if record.state != .loaded { terminal.line("\(status)  \(record.url)  \(record.error ?? "")") }
        terminal.status(Self.bar(progress, url: record.url.string, width: terminal.width))
    }

    /// The status line: `━━━━━━━━━━────── 412/976  12 MB  3.4 MB/s  https://…`.
    static func bar(_ progress: CrawlProgress, url: String, width: Int) -> String {
        let barWidth = 24
        let share = progress.known > 0 ? Double(progress.done) / Double(progress.known) : 0
        let filled = min(barWidth, Int(share * Double(barWidth)))
        let bar = String(repeating: "━", count: filled) + String(repeating: "─", count: barWidth - filled)
        let rate = progress.elapsed > 0 ? Int(Double(progress.bytes) / progress.elapsed) : 0
        let numbers =
            " \(Words.count(progress.done))/\(Words.count(progress.known))  "
            + "\(Words.bytes(progress.bytes))  \(Words.bytes(rate))/s  "
        return bar + numbers + Words.shortened(url, to: max(0, width - barWidth - numbers.count - 1))
    }

    static func lines(_ summary: CrawlSummary) -> [String] {
        var lines = [
            "crawl: \(Words.count(summary.pages, "page")), \(Words.count(summary.resources, "resource")), "
                + "\(Words.bytes(summary.bytes)) in \(Words.seconds(summary.seconds))"
        ]
        var troubles: [String] = []
        if summary.broken > 0 { troubles.append("\(Words.count(summary.broken)) broken") }
        if summary.failed > 0 { troubles.append("\(Words.count(summary.failed)) failed") }
        if summary.disallowed > 0 { troubles.append("\(Words.count(summary.disallowed)) disallowed by robots.txt") }
        if summary.fromArchive > 0 { troubles.append("\(Words.count(summary.fromArchive)) answered by the archive") }
        if !troubles.isEmpty { lines.append("       " + troubles.joined(separator: ", ")) }
        if summary.leftOver > 0 {
            lines.append(
                "       \(Words.count(summary.leftOver)) left (\(summary.end.rawValue)); the same command continues"
            )
        }
        return lines
    }
}
