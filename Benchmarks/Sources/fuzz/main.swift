// Tests the code that reads bytes from outside, with libFuzzer.
//
//   fuzz zip|patch|manifest|content-patch [CORPUS] [FILE…] [-runs=N] [-seed=N] [libFuzzer's options]
//
// `make fuzz` builds this with instrumentation. Built without it, the tool runs the seeds and the named files once
// each.

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
