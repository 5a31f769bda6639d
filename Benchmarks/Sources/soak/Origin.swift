import Foundation
@_spi(Processes) import Measuring
import WaystationProcesses
import WaystationTestSupport
import WaystationTesting

/// The origin of the soak, in a process of its own so that its memory does not count.
///
/// It answers `/KIND/NUMBER` with the body of that number.
final class Origin: Sendable {
    struct Failure: Error, CustomStringConvertible { let description: String }

    let base: String
    private let process: SpawnedProcess

    init() throws {
        process = try SpawnedProcess(ChildProcess.program, ["--origin"], output: .lines)
        let line = process.readLine()
        guard let port = line.flatMap({ UInt16($0) }) else {
            process.send(SIGTERM)
            throw Failure(description: "the origin did not start; its first line was: \(line ?? "nothing")")
        }
        base = "http://127.0.0.1:\(port)"
    }

    func stop() {
        process.endInput()
        process.wait()
    }

    /// Runs in the origin's process: prints the port, and serves until its input closes, which happens when the soak
    /// ends.
    static func runChild() throws {
        let origin = try ScriptedOrigin(keepsRequests: false) { request in
            let number = Int(request.path.split(separator: "/").last ?? "") ?? -1
            return .ok(Pattern.body(number), fields: ["Content-Type": "application/octet-stream"])
        }
        say("\(origin.port)")
        _ = try FileHandle.standardInput.readToEnd()
        origin.stop()
    }
}
