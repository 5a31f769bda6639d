// Sends large bodies in every situation that may need to send them twice, and compares the received bytes with the sent
// ones.
//
//   bodies [MIB]        bodies of MIB mebibytes, 256 by default
//
// Each body is sent by a process of its own, whose memory is measured: for streams and files, a large body must not use
// more memory than a small one.

import Foundation
import Measuring

let arguments = Array(CommandLine.arguments.dropFirst())

if arguments.first == "--send" {
    guard arguments.count == 6, let form = Sending.Form(rawValue: arguments[1]), let url = URL(string: arguments[3])
    else {
        say("--send needs a form, a method, a URL, a small file and a large one")
        exit(2)
    }
    let sending = try Sending(form, method: arguments[2], to: url)
    try await sending.send(URL(fileURLWithPath: arguments[4]))
    let idle = ProcessMemory.residentMiB
    try await sending.send(URL(fileURLWithPath: arguments[5]))
    say(String(format: "%.1f", ProcessMemory.peakMiB - idle))
    exit(0)
}

guard arguments.count < 2, let size = Int(arguments.first ?? "256"), size > 0 else {
    say("bodies [MIB]")
    exit(2)
}
let trial = try Trial(mebibytes: size)
var failures = 0
for form in Sending.Form.allCases {
    for method in ["POST", "PUT", "PATCH"] {
        for way in Trial.Way.allCases where way.isPossible(for: form, method) {
            let result = try trial.run(form, method, way)
            say(result.line)
            if !result.isGood { failures += 1 }
        }
    }
}
say(failures == 0 ? "every body arrived unharmed" : "\(failures) bodies did not arrive correctly")
exit(failures == 0 ? 0 : 1)
