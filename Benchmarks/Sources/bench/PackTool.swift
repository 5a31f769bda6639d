import Foundation
@_spi(Processes) import Measuring
import WaystationArchive
import WaystationPacks
import WaystationProcesses
import WaystationTestSupport

/// Unpacking and patching in a process of their own, as the tools run with which they are compared.
enum PackTool {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Starts this program again for one job.
    ///
    /// - Returns: The cost of the job without the start of the process, since an app has already loaded the library.
    static func start(_ arguments: [String]) throws -> ToolCost {
        let home = try ScratchDirectory()
        let child = try ChildProcess.run(["--tool"] + arguments, home: home.url, limit: 120)
        let output = String(decoding: child.output, as: UTF8.self).trimmingCharacters(in: .newlines)
        let numbers = output.split(separator: " ").compactMap { Double($0) }
        guard child.ending == .exited(0), numbers.count == 2 else {
            throw Failure(description: "\(arguments): \(child.ending) \(output) \(child.complaint)")
        }
        return ToolCost(milliseconds: numbers[0], memory: numbers[1])
    }

    static func run(_ arguments: [String]) async throws {
        let idle = ProcessMemory.residentMiB
        let clock = ContinuousClock()
        let start = clock.now
        switch (arguments.first, arguments.count) {
        case ("unzip", 3):
            let archive = try ZipArchive(FileSource(URL(fileURLWithPath: arguments[1])))
            try await archive.extract(into: URL(fileURLWithPath: arguments[2]))
        case ("patch", 4):
            let patch = try BSDiffPatch(FileSource(URL(fileURLWithPath: arguments[3])))
            _ = FileManager.default.createFile(atPath: arguments[2], contents: nil)
            let output = try FileHandle(forWritingTo: URL(fileURLWithPath: arguments[2]))
            try patch.apply(to: MappedSource(URL(fileURLWithPath: arguments[1]))) { try output.write(contentsOf: $0) }
        default: throw Failure(description: "not a valid job: \(arguments)")
        }
        let milliseconds = start.duration(to: clock.now) / .milliseconds(1)
        say(String(format: "%.3f %.1f", milliseconds, ProcessMemory.peakMiB - idle))
    }
}

/// The time of a job, and its peak memory in MiB.
struct ToolCost: Sendable {
    var milliseconds: Double
    var memory: Double
}

/// A program from Debian.
enum Tool {
    /// Runs the program to its end in a directory.
    ///
    /// - Returns: The cost of the process, from its start to its end.
    @discardableResult
    static func run(_ path: String, _ arguments: [String], in directory: URL) throws -> ToolCost {
        let outcome = try SpawnedProcess.run(path, arguments, in: directory)
        guard outcome.ending == .exited(0) else {
            throw PackTool.Failure(description: "\(path): \(outcome.ending)")
        }
        return ToolCost(milliseconds: outcome.milliseconds, memory: outcome.peakMemory)
    }
}
