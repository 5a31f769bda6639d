// Tests the code that reads bytes from outside, with libFuzzer.
//
//   fuzz TARGET [CORPUS] [FILE…] [-runs=N] [-seed=N] [libFuzzer's options]
//
// The targets are zip, patch, manifest and content-patch, of the engine on SwiftNIO http1, http2, coding and connect, and
// of the gateway request-target. Those of the engine and of the gateway test internal types, so they are part of the tool
// only when these were compiled for testing: in debug builds, and with `-enable-testing -DTESTABLE`.
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
        default: engineTarget(arguments.first)
        }
    guard let target else {
        print(
            "fuzz zip|patch|manifest|content-patch|http1|http2|coding|connect|request-target [CORPUS] [FILE…] "
                + "[libFuzzer's options]"
        )
        exit(2)
    }
    exit(try Fuzzer.run(target, options: Array(arguments.dropFirst())))
} catch {
    print("\(error)")
    exit(1)
}

/// Returns the fuzz target for a part of the engine or of the gateway by its name; nil if no target has this name, or if
/// these were not compiled for testing.
func engineTarget(_ name: String?) -> (any FuzzTarget)? {
    #if DEBUG || TESTABLE
    switch name {
    case "http1": HTTP1Target()
    case "http2": HTTP2Target()
    case "coding": CodingTarget()
    case "connect": ConnectTarget()
    case "request-target": RequestTargetTarget()
    default: nil
    }
    #else
    nil
    #endif
}
