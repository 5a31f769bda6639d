import Foundation
import SiteTools
import WaystationHTTP

/// The report: one HTML page that needs no other files.
struct ReportPage {
    let data: ReportData
    /// The title; by default the crawled host.
    let title: String?

    var html: String {
        let page: Markup = """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(heading) · crawl report</title>
            <style>\(Markup(html: ReportStyle.css))</style>
            </head>
            <body>
            <header>
            <p class="eyebrow">Crawl report</p>
            <h1>\(heading)</h1>
            <p class="sub">\(subtitle)</p>
            </header>
            <main>
            \(verdict)
            \(tiles)
            \(timeline)
            <div class="columns">
            \(sizes)
            \(statuses)
            </div>
            \(offlineFindings)
            <div class="columns">
            \(ranking("Slowest", data.records.filter { $0.attempts > 0 }, by: \.duration, Words.seconds))
            \(ranking("Biggest", data.records, by: { Double($0.size) }, { Words.bytes(Int($0)) }))
            </div>
            \(troubles)
            \(settings)
            </main>
            <footer>Made by <code>crawler</code>, an example of Waystation.</footer>
            </body>
            </html>
            """
        return page.html + "\n"
    }

    private var heading: String { title ?? data.name }

    private var subtitle: String {
        guard let first = data.records.first?.startedAt else { return "Nothing was loaded." }
        let date = first.formatted(Date.ISO8601FormatStyle(timeZone: .gmt).year().month().day().dateSeparator(.dash))
        let time = first.formatted(Date.ISO8601FormatStyle(timeZone: .gmt).time(includingFractionalSeconds: false))
        return "\(data.settings.startURLs.joined(separator: " · ")) · crawled \(date) at \(time) UTC"
    }

    // MARK: Outcome

    private var verdict: Markup {
        guard let offline = data.offline else {
            return """
                <section class="verdict open"><strong>Not checked offline yet.</strong>
                <span>Run <code>crawler offline</code> on the directory, then make the report again.</span></section>
                """
        }
        let isWhole = offline.missing == 0 && offline.differing == 0
        let counts =
            "\(Words.count(offline.pages, "page")) and \(Words.count(offline.resources, "resource")) loaded again "
            + "with the network denied in \(Words.seconds(offline.seconds)): "
            + "\(Words.count(offline.missing)) missing, \(Words.count(offline.differing)) differing."
        return """
            <section class="verdict \(isWhole ? "good" : "bad")">
            <strong>\(isWhole ? "Loads offline, byte for byte." : "Does not load offline in full.")</strong>
            <span>\(counts)</span></section>
            """
    }

    private var tiles: Markup {
        let busy = data.records.map { $0.startedAt.timeIntervalSince1970 + $0.duration }.max() ?? 0
        let span = max(busy - (data.records.first?.startedAt.timeIntervalSince1970 ?? busy), 0)
        let troubles = data.summary.broken + data.summary.failed
        let tiles: [(String, String)] = [
            ("pages", Words.count(data.summary.pages)),
            ("resources", Words.count(data.summary.resources)),
            ("loaded", Words.bytes(data.summary.bytes)),
            ("links seen", Words.count(data.linkCount)),
            ("broken", Words.count(troubles)),
            ("first to last load", Words.seconds(span)),
        ]
        let list = tiles.joined { name, value in
            let style = name == "broken" && troubles > 0 ? "tile warn" : "tile"
            return "<div class=\"\(style)\"><b>\(value)</b><span>\(name)</span></div>"
        }
        return "<section class=\"tiles\">\(list)</section>"
    }

    private var timeline: Markup {
        guard data.records.contains(where: { $0.attempts > 0 }) else { return "" }
        let classes = Set(data.records.map { MediaClass($0) })
        let legend = MediaClass.allCases.filter(classes.contains).joined { type in
            "<span><i class=\"c-\(type.colour)\"></i>\(type.rawValue)</span>"
        }
        let bad: Markup =
            data.troubles.isEmpty ? "" : "<span><i class=\"c-bad\"></i>Broken</span>"
        return """
            <section><h2>Timeline</h2>
            <div class="legend">\(legend)\(bad)</div>
            <div class="scroll">\(TimelineChart(data.records).svg)</div></section>
            """
    }

    // MARK: Distributions

    private var sizes: Markup {
        let loaded = data.records.filter { $0.state == .loaded }
        let groups = Dictionary(grouping: loaded) { MediaClass($0) }
        let rows = MediaClass.allCases.compactMap { type in
            groups[type].map { (type, $0.count, $0.reduce(0) { $0 + $1.size }) }
        }.sorted { $0.2 > $1.2 }
        let largest = Double(max(rows.first?.2 ?? 0, 1))
        let bars = rows.joined { type, count, bytes in
            bar(
                name: type.rawValue,
                detail: "\(Words.bytes(bytes)) · \(Words.count(count, "file"))",
                share: Double(bytes) / largest,
                colour: type.colour
            )
        }
        return "<section><h2>Size by type</h2>\(bars)</section>"
    }

    private var statuses: Markup {
        let groups = Dictionary(grouping: data.records) { $0.status.map(String.init) ?? "no answer" }
        let rows = groups.mapValues(\.count).sorted { $0.key < $1.key }
        let largest = Double(max(rows.map(\.value).max() ?? 0, 1))
        let bars = rows.joined { status, count in
            bar(
                name: status,
                detail: Words.count(count),
                share: Double(count) / largest,
                colour: status.hasPrefix("2") ? "page" : "bad"
            )
        }
        let skipped: Markup =
            data.skipped.isEmpty
            ? ""
            : """
            <h3>Found, not loaded</h3>
            <ul class="plain">\(data.skipped.joined { "<li><b>\(Words.count($0.count))</b> \($0.reason)</li>" })</ul>
            """
        return "<section><h2>Status codes</h2>\(bars)\(skipped)</section>"
    }

    private func bar(name: String, detail: String, share: Double, colour: String) -> Markup {
        """
        <div class="bar"><span>\(name)</span><span class="detail">\(detail)</span>
        <div class="track"><div class="c-\(colour)" style="width:\(Words.decimal(max(share * 100, 0.5), 1))%"></div></div></div>
        """
    }

    // MARK: Lists

    private var offlineFindings: Markup {
        guard !data.offlineFindings.isEmpty else { return "" }
        let rows = data.offlineFindings.prefix(500).joined { finding in
            "<tr><td><b class=\"tag bad\">\(finding.verdict)</b></td><td class=\"url\">\(finding.url)</td><td>\(finding.detail)</td></tr>"
        }
        return """
            <section><h2>Not whole offline</h2><div class="scroll"><table>
            <tr><th></th><th>URL</th><th>Why</th></tr>\(rows)</table></div></section>
            """
    }

    private var troubles: Markup {
        guard !data.troubles.isEmpty else {
            return
                "<section><h2>Broken links</h2><p class=\"calm\">None. Every link leads to a document.</p></section>"
        }
        let (shown, folded) = (data.troubles.prefix(8), data.troubles.dropFirst(8).prefix(2000))
        let more: Markup =
            folded.isEmpty
            ? ""
            : """
            <details><summary>\(Words.count(folded.count)) more</summary>
            <table>\(folded.joined(trouble))</table></details>
            """
        return """
            <section><h2>Broken links <span class="count">\(Words.count(data.troubles.count))</span></h2>
            <div class="scroll"><table><tr><th>Status</th><th>URL, and where it is linked</th></tr>
            \(shown.joined(trouble))</table>\(more)</div></section>
            """
    }

    private func trouble(_ record: LoadRecord, _ referrers: [Journal.Referrer]) -> Markup {
        let why = record.status.map(String.init) ?? "—"
        let links = referrers.joined { "<li><span class=\"url\">\($0.url)</span> <em>\($0.kind)</em></li>" }
        let error: Markup = record.error.map { "<p class=\"error\">\($0)</p>" } ?? ""
        return """
            <tr><td><b class="tag bad">\(why)</b></td><td><span class="url">\(record.url.string)</span>
            \(error)<ul class="referrers">\(links)</ul></td></tr>
            """
    }

    private func ranking(
        _ title: String,
        _ records: [LoadRecord],
        by value: (LoadRecord) -> Double,
        _ words: (Double) -> String
    ) -> Markup {
        let top = records.sorted { value($0) > value($1) }.prefix(10)
        let largest = max(top.first.map(value) ?? 0, .leastNonzeroMagnitude)
        let rows = top.joined { record in
            """
            <div class="bar"><span class="url" title="\(record.url.string)">\(record.url.pathAndQuery)</span>\
            <span class="detail">\(words(value(record)))</span>
            <div class="track"><div class="c-\(MediaClass(record).colour)" \
            style="width:\(Words.decimal(max(value(record) / largest * 100, 0.5), 1))%"></div></div></div>
            """
        }
        return "<section><h2>\(title)</h2>\(rows)</section>"
    }

    private var settings: Markup {
        let settings = data.settings
        var rows: [(String, String)] = [
            ("Scope", settings.scope.rawValue),
            ("Depth", settings.depth.map(String.init) ?? "no limit"),
            ("robots.txt", settings.obeysRobots ? "obeyed" : "ignored"),
            ("Loads at a time per host", String(settings.concurrency)),
        ]
        if let rate = settings.requestsPerSecond { rows.append(("Requests per second and host", String(rate))) }
        if !settings.include.isEmpty {
            rows.append(("Include", settings.include.map(\.pattern).joined(separator: ", ")))
        }
        if !settings.exclude.isEmpty {
            rows.append(("Exclude", settings.exclude.map(\.pattern).joined(separator: ", ")))
        }
        let list = rows.joined { "<div><dt>\($0)</dt><dd>\($1)</dd></div>" }
        return "<section><h2>Settings</h2><dl>\(list)</dl></section>"
    }
}
