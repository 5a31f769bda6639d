import Foundation

/// The report of a run: one HTML page that needs no other files.
struct ReportPage {
    private let results: Stage.Results
    private let total: Interval

    init(_ results: Stage.Results) {
        self.results = results
        total = results.sums.total
    }

    var html: String {
        let script = results.script
        let isRight = results.wrong.isEmpty
        let verdict =
            isRight ? "Every load ended with the right body." : "\(results.wrong.count) loads or processes were wrong."
        let size = "\(script.processes) processes, \(Int(script.seconds)) s, \(Int(script.rate)) loads a second each"
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>A fleet with one Redis</title>
            <style>
            \(ReportStyle.css)
            </style>
            </head>
            <body>
            <header><h1>A fleet with one Redis</h1>
            <p>\(size)</p></header>
            <main>
            <p class="verdict \(isRight ? "good" : "bad")">\(verdict)</p>
            \(tiers)
            <div class="plots">
            \(plots.map(\.html).joined(separator: "\n"))
            </div>
            \(facts)
            \(table)
            </main>
            </body>
            </html>

            """
    }

    // MARK: - Totals

    private var tiers: String {
        let rows = Tier.allCases.map { row($0.name, total[$0].count, total[$0].bytes, total[$0].durations) }
        let all = Tier.allCases.reduce(0) { $0 + total[$1].bytes }
        return section(
            "Loads by the tier that answered",
            ["", "loads", "share", "MB", "median ms", "95 % ms", "99 % ms"],
            rows + [row("all", total.count, all, total.durations)]
        )
    }

    private func row(_ name: String, _ count: Int, _ bytes: Int, _ durations: Histogram) -> [String] {
        [
            name, ModelTables.count(Double(count)),
            String(format: "%.1f %%", 100 * Double(count) / Double(max(total.count, 1))),
            String(format: "%.1f", Double(bytes) / 1e6),
        ]
            + [0.5, 0.95, 0.99].map { share in
                durations.percentile(share).map { String(format: "%.2f", $0 / 1_000) } ?? ""
            }
    }

    private var facts: String {
        let rows =
            [
                ["requests at the origin", ModelTables.count(Double(results.requestCount))],
                ["bytes of bodies from the origin", ModelTables.count(Double(results.originBytes))],
                ["pages changed meanwhile", "\(results.changes)"],
                ["processes killed and replaced", "\(results.kills)"],
                ["loads not begun, because too many were under way", "\(total.failed)"],
                ["wrong bodies, failed loads and ended processes", "\(results.wrong.count)"],
            ]
            + results.sums.events.sorted { $0.key < $1.key }.map { ["events: tier \($0.key)", "\($0.value)"] }
            + [
                ("commands of Redis", "total_commands_processed"),
                ("connections to Redis", "total_connections_received"),
                ("bytes to Redis", "total_net_input_bytes"), ("bytes from Redis", "total_net_output_bytes"),
                ("peak memory of Redis", "used_memory_peak"), ("values that Redis evicted", "evicted_keys"),
            ].map { [$0.0, ModelTables.count(Double(results.counts[$0.1] ?? 0))] }
        return section("Counts", ["", "count"], rows)
    }

    // MARK: - Plots

    /// The seconds of the run; what a process reports after its end is left out.
    private var seconds: [Interval] {
        (0..<Int(results.script.seconds)).map { results.sums.seconds[$0] ?? Interval() }
    }

    private var plots: [Plot] {
        let bands = results.script.faults.map { Plot.Band(name: "Redis \($0.kind.name)", seconds: $0.seconds) }
        let seconds = seconds
        let byTier = { (value: (Interval.Loads) -> Double) in
            Tier.allCases.map { tier in
                Plot.Series(name: tier.name, style: "\(tier)", values: seconds.map { value($0[tier]) })
            }
        }
        let durations = seconds.map(\.durations)
        let percentile = { (share: Double) in durations.map { $0.percentile(share).map { $0 / 1_000 } } }
        let requests = (0..<seconds.count).map { Double(results.requests[$0] ?? 0) }
        return [
            Plot(title: "Loads a second", unit: "", shape: .stacked, series: byTier { Double($0.count) }, bands: bands),
            Plot(
                title: "Requests at the origin a second",
                unit: "",
                shape: .lines,
                series: [Plot.Series(name: "requests", style: "origin", values: requests)],
                bands: bands
            ),
            Plot(
                title: "Time of a load",
                unit: "ms",
                shape: .logarithmic,
                series: [
                    Plot.Series(name: "median", style: "own", values: percentile(0.5)),
                    Plot.Series(name: "95 %", style: "shared", values: percentile(0.95)),
                    Plot.Series(name: "99 %", style: "origin", values: percentile(0.99)),
                ],
                bands: bands
            ),
            Plot(
                title: "Bytes a second",
                unit: "MB",
                shape: .stacked,
                series: byTier { Double($0.bytes) / 1e6 },
                bands: bands
            ),
        ]
    }

    /// The numbers of the plots.
    private var table: String {
        let rows = seconds.enumerated().map { second, interval in
            ["\(second)"] + Tier.allCases.map { "\(interval[$0].count)" } + ["\(results.requests[second] ?? 0)"]
                + [0.5, 0.95, 0.99].map { share in
                    interval.durations.percentile(share).map { String(format: "%.2f", $0 / 1_000) } ?? ""
                }
        }
        let names = ["second"] + Tier.allCases.map(\.name) + ["origin requests", "median ms", "95 % ms", "99 % ms"]
        return "<details><summary>All seconds</summary>\(section(nil, names, rows))</details>"
    }

    private func section(_ title: String?, _ names: [String], _ rows: [[String]]) -> String {
        let line = { (cells: [String], tag: String) in
            cells.enumerated().map { index, cell in
                "<\(tag)\(index == 0 ? "" : " class=\"number\"")>\(cell.escaped)</\(tag)>"
            }.joined()
        }
        return """
            <section>\(title.map { "<h2>\($0.escaped)</h2>" } ?? "")
            <div class="scroll" tabindex="0"><table><thead><tr>\(line(names, "th"))</tr></thead><tbody>
            \(rows.map { "<tr>\(line($0, "td"))</tr>" }.joined(separator: "\n"))
            </tbody></table></div></section>
            """
    }
}
