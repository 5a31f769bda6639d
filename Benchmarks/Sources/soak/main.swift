// Makes half a million loads of every kind, 64 at a time, over three sessions and two interceptors.
//
//   soak [LOADS [KIND…]] [--plain]        KIND is file, archive, miss or forward; all of them in the usual mix by default

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
let isPlain = arguments.contains("--plain")
let kinds = arguments.dropFirst().filter { $0 != "--plain" }.map { name in
    guard let kind = Load.Kind(rawValue: name) else {
        say("there is no kind \(name); the kinds are \(Load.Kind.allCases.map(\.rawValue).joined(separator: ", "))")
        exit(2)
    }
    return kind
}
exit(try await Soak(total: total, kinds: kinds, isPlain: isPlain).run() ? 0 : 1)
