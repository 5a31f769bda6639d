// Runs every scenario with plain URLSession and through Waystation, against the same loopback origin, and compares the
// results.
//
//   differential [--only PREFIX] [--variants untouched,network,stored,hit,nio,nio-stored,nio-hit] [--jobs N] [--show NAME]

import Foundation
import Measuring

let arguments = Array(CommandLine.arguments.dropFirst())

func value(of option: String) -> String? {
    arguments.firstIndex(of: option).flatMap { arguments.indices.contains($0 + 1) ? arguments[$0 + 1] : nil }
}

func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("differential: \(message)\n".utf8))
    exit(2)
}

if arguments.first == "--child" {
    guard (5...6).contains(arguments.count), let scenario = Scenario.all.first(where: { $0.name == arguments[1] }),
        let variant = Variant(rawValue: arguments[2]), let times = Int(arguments[3]), let patience = Int(arguments[4])
    else { fail("--child needs a scenario, a variant, the number of runs, seconds of patience, and for TLS a folder") }
    let certificates = arguments.count == 6 ? URL(fileURLWithPath: arguments[5]) : nil
    try await runChild(scenario, variant: variant, times: times, patience: patience, certificates: certificates)
    // The process exits here, so that nothing left behind by a load can keep it alive.
    exit(0)
}

let names = value(of: "--variants")?.split(separator: ",").map(String.init)
let variants = names.map { names in
    names.map { name in
        guard let variant = Variant(rawValue: name) else { fail("there is no variant \(name)") }
        return variant
    }
}
let scenarios = Scenario.all.filter { $0.name.hasPrefix(value(of: "--only") ?? "") }
guard !scenarios.isEmpty else { fail("no scenario begins with \(value(of: "--only") ?? "")") }
let duplicates = Dictionary(grouping: Scenario.all, by: \.name).filter { $1.count > 1 }.keys
guard duplicates.isEmpty else { fail("scenarios with the same name: \(duplicates.sorted().joined(separator: ", "))") }
if !InterceptedSession.isInstalled { say("Waystation is not installed: every variant is plain URLSession") }

let report = try await compare(
    scenarios,
    variants: variants ?? Variant.allCases.filter { $0 != .plain },
    jobs: value(of: "--jobs").flatMap { Int($0) } ?? 8
)
// The rows that failed stand among hundreds of others, so they are printed once more.
for row in report.rows where !row.isExpected { say(row.text) }
say(report.summary)
exit(report.isExpected ? 0 : 1)
