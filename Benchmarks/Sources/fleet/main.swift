// Runs a fleet on this machine: processes with a disk each, one Redis, one origin.
//
//   fleet SITE REPORT [SECONDS] [PROCESSES]      traffic with kills and faults of Redis, and a report (60 s, 8 processes)
//   fleet cold-start [PROCESSES] [URLS]          empty disks and the same URLs at once (8 processes, 1,000 URLs)
//   fleet model SITE [SECONDS] [RATE]            runs of 2, 4, 8 and 16 processes beside the model's predictions

import Foundation
import Measuring

let arguments = Array(CommandLine.arguments.dropFirst())

func refuse(_ text: String) -> Never {
    say(text)
    exit(2)
}

switch arguments.first {
case "--member":
    guard let part = Member.Part(Array(arguments.dropFirst())) else { refuse("wrong usage") }
    try await Member(part).run()

case "--cold":
    guard arguments.count == 5, let urls = Int(arguments[4]) else { refuse("wrong usage") }
    try await ColdStart.load(arguments[1], arguments[2], Int(arguments[3]), urls)

case "cold-start":
    let numbers = arguments.dropFirst().map { Int($0) ?? 0 }
    guard numbers.allSatisfy({ $0 > 0 }) else { refuse("fleet cold-start [PROCESSES] [URLS]") }
    let start = ColdStart(processes: numbers.first ?? 8, urls: numbers.dropFirst().first ?? 1_000)
    let (shared, alone) = (try start.run(isShared: true), try start.run(isShared: false))
    let wrong = shared.wrong + alone.wrong
    for line in wrong.prefix(20) { say(line) }
    let limit = start.urls + start.urls / 100
    say(
        """
        cold start: \(start.processes) processes, \(start.urls) URLs each, \(shared.requests) requests at the origin \
        (at most \(limit)) in \(String(format: "%.1f", shared.seconds)) s; without Redis \(alone.requests) in \
        \(String(format: "%.1f", alone.seconds)) s; \(wrong.count) wrong
        """
    )
    exit(wrong.isEmpty && shared.requests <= limit ? 0 : 1)

case "model":
    let numbers = arguments.dropFirst(2).map { Double($0) ?? 0 }
    guard arguments.count > 1, numbers.allSatisfy({ $0 > 0 }) else { refuse("fleet model SITE [SECONDS] [RATE]") }
    let tables = ModelTables(
        site: URL(fileURLWithPath: arguments[1]),
        seconds: numbers.first ?? 30,
        rate: numbers.dropFirst().first ?? 30
    )
    let wrong = try tables.measure()
    say("")
    try tables.extrapolate()
    for line in wrong.prefix(20) { say(line) }
    say("model: \(ModelTables.sizes.count) runs, \(wrong.count) wrong")
    exit(wrong.isEmpty ? 0 : 1)

default:
    let numbers = arguments.dropFirst(2).map { Double($0) ?? 0 }
    guard arguments.count >= 2, numbers.allSatisfy({ $0 > 0 }) else {
        refuse("fleet SITE REPORT [SECONDS] [PROCESSES]")
    }
    let seconds = numbers.first ?? 60
    let results = try Stage(site: URL(fileURLWithPath: arguments[0])).run(
        Stage.Script(
            processes: Int(numbers.dropFirst().first ?? 8),
            seconds: seconds,
            changes: 200,
            staleness: 5,
            kills: 2...4,
            faults: Fault.schedule(of: seconds),
            seed: .random(in: 0 ... .max)
        )
    )
    for line in results.wrong.prefix(20) { say(line) }
    let report = URL(fileURLWithPath: arguments[1])
    try FileManager.default.createDirectory(at: report.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(ReportPage(results).html.utf8).write(to: report)
    let total = results.sums.total
    say(
        """
        fleet: \(results.script.processes) processes, \(Int(seconds)) s, \(total.count) loads: \(total[.own].count) from \
        memory or disk, \(total[.shared].count) from Redis, \(total[.origin].count) from the origin; \
        \(results.requestCount) requests at the origin, \(results.changes) changes, \(results.kills) kills, \
        \(total.failed) not begun, \(results.wrong.count) wrong
        """
    )
    say("report: \(report.path)")
    exit(results.wrong.isEmpty ? 0 : 1)
}
