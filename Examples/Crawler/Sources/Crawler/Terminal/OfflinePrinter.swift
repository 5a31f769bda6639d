import Foundation

/// Prints the outcome of an offline check; the last line is the summary.
struct OfflinePrinter {
    let terminal: Terminal
    let isQuiet: Bool
    let isJSON: Bool

    func progress(done: Int, total: Int) {
        guard !isQuiet, !isJSON else { return }
        terminal.status("checking offline  \(Words.count(done))/\(Words.count(total))")
    }

    func show(_ result: OfflineResult) {
        terminal.clearStatus()
        if isJSON { return showJSON(result) }
        list("missing", result.missing)
        list("differing", result.differing)
        if !isQuiet {
            list("broken", result.broken, limit: 10)
            if result.leftOver > 0 {
                terminal.line("\(Words.count(result.leftOver, "URL")) not tried: the crawl stopped at a limit")
            }
        }
        terminal.line(result.line)
    }

    private func list(_ verdict: String, _ findings: [OfflineResult.Finding], limit: Int = .max) {
        for finding in findings.prefix(limit) {
            terminal.line("\(verdict)  \(finding.url)  (\(finding.detail))")
            for referrer in finding.referrers.prefix(3) {
                terminal.line("    \(referrer.kind) in \(referrer.url)")
            }
        }
        if findings.count > limit {
            terminal.line("\(verdict)  and \(Words.count(findings.count - limit)) more, all in the report")
        }
    }

    private struct Item: Encodable {
        let event: String
        let url: String
        let detail: String
        let referrers: [String]
    }

    private struct Summary: Encodable {
        let event = "offline"
        let pages: Int
        let resources: Int
        let missing: Int
        let differing: Int
        let broken: Int
        let leftOver: Int
        let seconds: Double
    }

    private func showJSON(_ result: OfflineResult) {
        let json = CrawlJSONLines(terminal: terminal)
        for (event, findings) in [
            ("missing", result.missing), ("differing", result.differing), ("broken", result.broken),
        ] {
            for finding in findings {
                json.emit(
                    Item(
                        event: event,
                        url: finding.url,
                        detail: finding.detail,
                        referrers: finding.referrers.map(\.url)
                    )
                )
            }
        }
        json.emit(
            Summary(
                pages: result.pages,
                resources: result.resources,
                missing: result.missing.count,
                differing: result.differing.count,
                broken: result.broken.count,
                leftOver: result.leftOver,
                seconds: result.seconds
            )
        )
    }
}
