// Fills stores of three limits, with one load at a time and with 32, and measures their directories from outside.
//
//   disk-size [SECONDS]     the rest after each burst, 60 by default

import Foundation
import Measuring

let arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "--burst" {
    guard arguments.count == 5, let limit = Int(arguments[2]), let width = Int(arguments[3]),
        let seconds = Double(arguments[4])
    else {
        say("wrong usage")
        exit(2)
    }
    await Burst(directory: URL(fileURLWithPath: arguments[1]), limit: limit, width: width).run(resting: seconds)
    exit(0)
}

guard let seconds = Double(arguments.first ?? "60"), seconds >= 0 else {
    say("disk-size [SECONDS]: SECONDS must be a number, not \(arguments.first ?? "")")
    exit(2)
}
let trials = [2, 16, 64].flatMap { limit in [1, 32].map { Trial(limit: limit << 20, width: $0, rest: seconds) } }
let results = try Trial.run(trials)
say(Sizes.heading)
for result in results { say(result.line) }
let wrong = results.flatMap(\.wrong)
for line in wrong { say(line) }
say("disk-size: \(results.count) directories, \(wrong.count) bounds broken")
exit(wrong.isEmpty ? 0 : 1)
