// Uses one store from eight processes that are killed at random, and then checks the store.
//
//   hammer [SECONDS]     120 by default

import Foundation
@_spi(Processes) import Measuring
import WaystationStorage

let arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "--member" {
    guard arguments.count == 4, let seed = UInt64(arguments[2]), let seconds = Double(arguments[3]) else {
        say("wrong usage")
        exit(2)
    }
    do {
        var member = try Member(directory: URL(fileURLWithPath: arguments[1]), seed: seed)
        exit(await member.run(seconds: seconds))
    } catch {
        say("wrong start: \(error)")
        exit(3)
    }
}

guard let seconds = Double(arguments.first ?? "120"), seconds > 0 else {
    say("hammer [SECONDS]")
    exit(2)
}
let scratch = try ScratchDirectory()
let directory = scratch.url.appendingPathComponent("store")
let started = ContinuousClock.now
let lines = Tally()
let crowd = Crowd(
    seconds: seconds,
    arguments: { _, seed, rest in ["--member", directory.path, "\(seed)", "\(rest)"] },
    hear: lines.hear
)
let outcome = try crowd.run(seats: 8, pause: 0.05...0.4, seed: UInt64.random(in: 0 ... .max))
let rest = try await Remains(directory: directory).check()
let tally = lines.now
// A load that always failed would be wrong nowhere.
let idle = seconds >= 5 && tally.films.loads == 0 ? ["no film was loaded"] : []
let wrong = outcome.wrong + tally.wrong + rest.wrong + idle
for line in wrong.prefix(20) { say(line) }
let took = Int((started.duration(to: .now) / .seconds(1)).rounded())
say(
    """
    hammer: 8 processes, \(took) s, \(tally.steps) steps, \(tally.films.loads) loads of films, \
    \(tally.films.failures) broken off, \(tally.films.purges) purges of them, \(rest.parts) parts left, \(outcome.kills) kills, \
    \(tally.evicted) evicted, \(tally.notes) waits given up, \(tally.warnings) warnings, \
    \(rest.entries) responses left, \(rest.bytes) of \(Material.limits.maximumSize.bytes) bytes, integrity \
    \(rest.isWhole ? "ok" : "BROKEN"), \(wrong.count) wrong
    """
)
exit(wrong.isEmpty ? 0 : 1)
