import Foundation
import Testing
import WaystationProcesses

/// A program of the system that reads and writes archives.
///
/// A program that is not installed fails the test, because interchange would go untested.
enum Tool: String {
    case zip, unzip, bsdtar, python = "python3"
    /// 7-Zip, which is used where it is installed.
    case sevenZip = "7z"
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

    /// Whether the program is installed; 7-Zip has another name in some packages.
    var isInstalled: Bool { path != nil }

    private var path: String? {
        (self == .sevenZip ? [rawValue, "7zz"] : [rawValue]).map { "/usr/bin/\($0)" }
            .first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs the program, which may fail; nil if it exits with one of these statuses.
    func failure(of arguments: [String], in directory: String, with statuses: Set<Int32>) throws -> ToolFailure? {
        let outcome = try outcome(of: arguments, in: directory)
        if case .exited(let status) = outcome.ending, statuses.contains(status) { return nil }
        let lines = String(decoding: outcome.output + outcome.errors, as: UTF8.self).split(whereSeparator: \.isNewline)
        return ToolFailure(lastLine: lines.last.map(String.init) ?? "\(outcome.ending)")
    }

    private func outcome(
        of arguments: [String],
        in directory: String,
        stream: String? = nil
    ) throws -> SpawnedProcessOutcome {
        let file = try #require(path, "\(rawValue) is not installed")
        let piped = stream.map { ["-c", #"stream=$0; "$@" | cat >"$stream""#, $0, file] }
        return try SpawnedProcess.run(
            piped == nil ? file : "/bin/sh",
            (piped ?? []) + arguments,
            in: URL(filePath: directory),
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"]
        )
    }
}

/// The end of a program that could not do its work.
struct ToolFailure: Error {
    /// The last line that it printed.
    let lastLine: String
}
