// What reads bytes from outside, fed by libFuzzer.
//
//   fuzz zip|patch|manifest|content-patch [CORPUS] [FILE…] [-runs=N] [-seed=N] [libFuzzer's options]
//
// `make fuzz` builds it with instruments. Built without, it runs the seeds and the files that are named, once each.

import Foundation

let arguments = Array(CommandLine.arguments.dropFirst())
do {
    let target: (any FuzzTarget)? =
        switch arguments.first {
        case "zip": try ZipTarget()
        case "patch": PatchTarget()
        case "manifest": ManifestTarget()
        case "content-patch": try ContentPatchTarget()
        default: nil
        }
    guard let target else {
        print("fuzz zip|patch|manifest|content-patch [CORPUS] [FILE…] [libFuzzer's options]")
        exit(2)
    }
    exit(try Fuzzer.run(target, options: Array(arguments.dropFirst())))
} catch {
    print("\(error)")
    exit(1)
}
