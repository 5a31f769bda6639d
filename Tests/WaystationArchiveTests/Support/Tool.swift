import Foundation
import Testing
import WaystationProcesses

/// A program of the system that reads and writes archives.
///
/// A program that is not installed fails the test, because interchange would go untested.
enum Tool: String {
    case zip, unzip, bsdtar, python = "python3"
    /// The shell, for pipes between the other tools.
    case shell = "sh"

    /// Runs the program and returns its output; any exit status but success fails the test.
    ///
    /// With `stream`, the output goes through a pipe into that file, so that the program cannot seek in it.
    @discardableResult
    func run(_ arguments: [String], in directory: String, stream: String? = nil) throws -> String {
        let outcome = try outcome(of: arguments, in: directory, stream: stream)
        let text = String(decoding: outcome.output + outcome.errors, as: UTF8.self)
        try #require(outcome.ending == .exited(0), "\(rawValue) \(arguments.joined(separator: " ")): \(text)")
        return text
    }

    /// Runs the program, which may fail, and returns whether it exited with one of these statuses.
    func succeeds(_ arguments: [String], in directory: String, with statuses: Set<Int32>) throws -> Bool {
        guard case .exited(let status) = try outcome(of: arguments, in: directory).ending else { return false }
        return statuses.contains(status)
    }

    private func outcome(
        of arguments: [String],
        in directory: String,
        stream: String? = nil
    ) throws -> SpawnedProcessOutcome {
        let file = "/usr/bin/\(rawValue)"
        let piped = stream.map { ["-c", #"stream=$0; "$@" | cat >"$stream""#, $0, file] }
        return try SpawnedProcess.run(
            piped == nil ? file : "/bin/sh",
            (piped ?? []) + arguments,
            in: URL(filePath: directory),
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"]
        )
    }
}
