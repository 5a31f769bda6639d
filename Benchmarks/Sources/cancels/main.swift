// Cancels loads at random moments, many of them when they end, and checks whether the process still loads.
//
//   cancels [RUNS]     the number of runs for each way to load, 10 by default
//
// Each run is a process of its own, since a frozen process stays frozen.

import Foundation
@_spi(Processes) import Measuring
import WaystationTestSupport

let arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "--run" {
    guard arguments.count == 2, let way = Way(rawValue: arguments[1]) else {
        say("--run needs a way")
        exit(2)
    }
    say("\(try await CancelledLoads(way).run())")
    exit(0)
}

guard arguments.count < 2, let runs = Int(arguments.first ?? "10"), runs > 0 else {
    say("cancels [RUNS]")
    exit(2)
}
var failures = 0
for way in Way.allCases {
    var tally = Tally()
    var wrong: [String] = []
    for _ in 0..<runs {
        let home = try ScratchDirectory()
        let child = try ChildProcess.run(["--run", way.rawValue], home: home.url, limit: 600)
        let output = String(decoding: child.output, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard child.ending == .exited(0), let one = Tally(output) else {
            wrong.append("\(child.ending) \(output) \(child.complaint)")
            continue
        }
        tally += one
        if !one.isSound { wrong.append("not as expected: \(one)") }
    }
    say("\(way.rawValue): \(runs - wrong.count) of \(runs) runs ended, \(tally)")
    for line in wrong { say("  \(line)") }
    failures += wrong.count
}
say(failures == 0 ? "no cancel stopped anything" : "\(failures) runs did not end as expected")
exit(failures == 0 ? 0 : 1)
