// Four processes load side by side over one store, files and packs. Each has 64 loads in flight and cancels one in four
// of them. The origin delays, resets, cuts and falsifies answers; every two seconds one of the processes is killed.
//
//   chaos [SECONDS]      600 by default
//
// The first process is never killed: its memory and descriptors are recorded.

import Foundation
@_spi(Processes) import Measuring

let arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "--member" {
    guard arguments.count == 6, let seed = UInt64(arguments[3]), let seconds = Double(arguments[4]) else {
        say("wrong usage")
        exit(2)
    }
    let stage = Stage(directory: URL(fileURLWithPath: arguments[1]))
    let member = try Member(stage, origin: arguments[2], seed: seed, isWitness: arguments[5] == "0")
    exit(await member.run(seconds: seconds))
}

guard let seconds = Double(arguments.first ?? "600"), seconds > 0 else {
    say("chaos [SECONDS]: SECONDS must be a number above 0, not \(arguments.first ?? "")")
    exit(2)
}
let scratch = try ScratchDirectory()
let stage = Stage(directory: scratch.url)
try await stage.set()
let seed = UInt64.random(in: 0 ... .max)
let origin = try UnreliableOrigin(seed: seed)
let lines = Tally()
let crowd = Crowd(
    seconds: seconds,
    arguments: { seat, seed, rest in ["--member", scratch.url.path, origin.base, "\(seed)", "\(rest)", "\(seat)"] },
    hear: lines.hear
)
func rounded(_ trend: (Double, Double)) -> String { String(format: "%.0f -> %.0f", trend.0, trend.1) }
let outcome = try crowd.run(seats: 4, sparing: 1, pause: 2...2, seed: seed)
origin.stop()
let tally = lines.now
let wrong = tally.wrong + outcome.wrong
for line in wrong.prefix(20) { say(line) }
let (memory, descriptors) = tally.sizes.trend
say(
    """
    chaos: 4 processes, \(Int(seconds)) s, \(tally.counts.total) loads, \(tally.counts.hits) hits, \
    \(tally.counts.fetched) fetched, \(tally.counts.failed) failed, \(tally.counts.cancelled) cancelled, \
    \(outcome.kills) kills, \(wrong.count) wrong; over the last half rss \(rounded(memory)) MiB, \
    descriptors \(rounded(descriptors))
    """
)
// The caches of a short run are still filling.
let isFlat = seconds < 300 || tally.sizes.isFlat
exit(wrong.isEmpty && isFlat ? 0 : 1)
