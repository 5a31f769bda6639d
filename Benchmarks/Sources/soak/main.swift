// Half a million loads of every kind, 64 at a time, over three sessions and two interceptors.
//
//   soak [LOADS]

import Foundation
import Measuring

let arguments = Array(CommandLine.arguments.dropFirst())
if arguments.first == "--origin" {
    try Origin.runChild()
    exit(0)
}
guard let total = arguments.first.map({ Int($0) }) ?? 500_000, total > 0 else {
    say("soak [LOADS]: LOADS must be a number above 0, not \(arguments.first ?? "")")
    exit(2)
}
exit(try await Soak(total: total).run() ? 0 : 1)
