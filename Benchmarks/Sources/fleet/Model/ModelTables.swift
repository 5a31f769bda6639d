import Foundation
import Measuring

/// The tables of the model in `Docs/Fleet.md`: predictions beside runs, and predictions for fleets that no one machine
/// can run.
struct ModelTables {
    static let sizes = [2, 4, 8, 16]

    let site: URL
    let seconds: Double
    let rate: Double

    /// Runs fleets of several sizes and prints a row for each; returns what was wrong.
    func measure() throws -> [String] {
        let pages = try Site(site)
        var wrong: [String] = []
        say("| processes | | loads | memory or disk | Redis | origin | origin alone | Redis commands | messages |")
        say("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for size in Self.sizes {
            let model = model(pages, machines: Double(size), rate: rate)
            say(row("\(size)", "predicted", model.run(of: seconds)))
            let results = try Stage(site: site).run(Stage.Script(processes: size, seconds: seconds, rate: rate))
            wrong += results.wrong
            let total = results.sums.total
            var measured = FleetModel.Prediction()
            measured.loads = Double(total.count)
            measured.own = Double(total[.own].count)
            measured.shared = Double(total[.shared].count)
            measured.origin = Double(results.requestCount)
            measured.commands = Double(results.counts["total_commands_processed"] ?? 0)
            say(row("", "measured", measured))
        }
        return wrong
    }

    /// Prints predictions for large fleets, in a second.
    func extrapolate() throws {
        let pages = try Site(site)
        say(
            "| machines | loads/s | memory or disk | Redis | origin | origin/s | origin/s alone | Redis commands/s "
                + "| messages/s |"
        )
        say("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        for machines in [10, 100, 1_000, 10_000] {
            let steady = model(pages, machines: Double(machines), rate: rate).steady
            let cells =
                ["\(machines)", Self.count(steady.loads)]
                + [steady.own, steady.shared, steady.origin].map { String(format: "%.2f %%", 100 * $0 / steady.loads) }
                + [steady.origin, steady.originAlone, steady.commands, steady.messages].map(Self.count)
            say("| \(cells.joined(separator: " | ")) |")
        }
    }

    private func model(_ site: Site, machines: Double, rate: Double) -> FleetModel {
        FleetModel(
            machines: machines,
            pages: zip(site.pages, site.probabilities).map { page, probability in
                FleetModel.Page(rate: rate * probability, lifetime: Double(page.lifetime))
            }
        )
    }

    private func row(_ size: String, _ kind: String, _ numbers: FleetModel.Prediction) -> String {
        let shares = [numbers.own, numbers.shared].map { String(format: "%.1f %%", 100 * $0 / numbers.loads) }
        let isPrediction = numbers.originAlone > 0
        let cells =
            [size, kind, Self.count(numbers.loads)] + shares
            + [
                Self.count(numbers.origin), isPrediction ? Self.count(numbers.originAlone) : "",
                Self.count(numbers.commands),
            ]
            + [isPrediction ? Self.count(numbers.messages) : ""]
        return "| \(cells.joined(separator: " | ")) |"
    }

    /// A number with its thousands apart.
    static func count(_ value: Double) -> String {
        let digits = String(Int(value.rounded()))
        var text = ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index).isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return text
    }
}
