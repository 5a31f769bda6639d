import Foundation
import Measuring
import WaystationTesting

/// The origin of the soak, in a process of its own so that its memory is not counted.
///
/// It answers `/KIND/NUMBER` with the body of that number.
final class Origin: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    let base: String
    private let process: Process
    private let input: Pipe

    init() throws {
        process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["--origin"]
        let output = Pipe()
        input = Pipe()
        process.standardOutput = output
        process.standardInput = input
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            process.terminate()
            throw Failure(description: "the origin did not come up, but said: \(line)")
        }
        base = "http://127.0.0.1:\(port)"
    }

    func stop() {
        process.terminate()
        process.waitUntilExit()
    }

    /// The origin's side: prints the port, and serves until its input ends, which is when the soak is gone.
    static func runChild() throws {
        let origin = try ScriptedOrigin(keepsRequests: false) { request in
            let number = Int(request.path.split(separator: "/").last ?? "") ?? -1
            return .ok(Load.body(number), fields: ["Content-Type": "application/octet-stream"])
        }
        say("\(origin.port)")
        _ = try FileHandle.standardInput.readToEnd()
        origin.stop()
    }
}
