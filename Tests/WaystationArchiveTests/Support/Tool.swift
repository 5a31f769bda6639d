import Foundation
import Testing

/// A program of the system that archives are exchanged with.
///
/// One that is not installed fails the test: interchange that is not tested is not known to work.
enum Tool: String {
    case zip, unzip, bsdtar, python = "python3"

    private var file: String { "/usr/bin/\(rawValue)" }

    /// Runs the program and returns its output; anything but success fails the test.
    ///
    /// With `stream`, the output goes through a pipe into that file, so that the program cannot seek in it.
    @discardableResult
    func run(_ arguments: [String], in directory: String, stream: String? = nil) throws -> String {
        let process = Process()
        if let stream {
            process.executableURL = URL(filePath: "/bin/sh")
            process.arguments = ["-c", "out=$1; shift; \"$@\" | cat > \"$out\"", "sh", stream, file] + arguments
        } else {
            process.executableURL = URL(filePath: file)
            process.arguments = arguments
        }
        process.currentDirectoryURL = URL(filePath: directory)
        process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TZ": "UTC"]
        let output = Pipe()
        process.standardOutput = output
        process.standardError = output
        process.standardInput = FileHandle.nullDevice
        try #require(FileManager.default.isExecutableFile(atPath: file), "\(file) is not installed: run `make deps`")
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0, "\(rawValue) \(arguments.joined(separator: " ")): \(text)")
        return text
    }
}
