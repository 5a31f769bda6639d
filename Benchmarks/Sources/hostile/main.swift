// Answers real loads through the engine on SwiftNIO with hostile responses, and checks that each load ends, that
// well-behaved responses still arrive, and that the memory does not grow.
//
//   hostile [COUNT [SEED]]        COUNT responses, 10,000 by default; they follow from SEED, by default 1
//   hostile --still [SECONDS]     endless bodies to delegates that do nothing for SECONDS, 60 by default
//
// The server is a process of its own, so that only the client's memory is measured.

import Foundation
import Measuring

/// The number of responses from which on the growth of the memory is judged; shorter runs only print it.
let judgedCount = 10_000
/// The growth of the memory that is accepted, in MiB.
let memoryLimit = 64.0
let arguments = Array(CommandLine.arguments.dropFirst())

switch arguments.first {
case "--serve":
    guard arguments.count == 2, let seed = UInt64(arguments[1]) else {
        say("--serve needs a seed")
        exit(2)
    }
    try Origin(seed: seed).serve()
case "--still":
    guard arguments.count < 3, let seconds = Double(arguments.dropFirst().first ?? "60"), seconds > 0 else {
        say("hostile --still [SECONDS]")
        exit(2)
    }
    exit(try await StillLoads(seconds: seconds).run() ? 0 : 1)
default:
    let numbers = arguments.map { Int($0) }
    guard numbers.count < 3, let count = numbers.first ?? 10_000, let seed = numbers.dropFirst().first ?? 1, count > 0,
        seed >= 0
    else {
        say("hostile [COUNT [SEED]]")
        exit(2)
    }
    exit(try await HostileLoads(count: count, seed: UInt64(seed)).run() ? 0 : 1)
}
