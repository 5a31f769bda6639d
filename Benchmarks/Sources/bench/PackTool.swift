import Foundation
import Measuring
import WaystationArchive
import WaystationPatch

/// Unpacking and patching in a process of their own, as the tools that they are compared with run.
enum PackTool {
    struct Failure: Error, CustomStringConvertible { let description: String }

    /// Starts this program again for one job.
    ///
    /// - Returns: The peak of its memory over the idle process, in MiB.
    static func start(_ arguments: [String]) throws -> Double {
        let home = try ScratchDirectory()
        let child = try ChildProcess.run(["--tool"] + arguments, home: home.url, limit: 120)
        let output = String(decoding: child.output, as: UTF8.self).trimmingCharacters(in: .newlines)
        guard child.ending == .exited(0), let peak = Double(output) else {
            throw Failure(description: "\(arguments): \(child.ending) \(output) \(child.complaint)")
        }
        return peak
    }

    static func run(_ arguments: [String]) async throws {
        let idle = ProcessMemory.residentMiB
        switch (arguments.first, arguments.count) {
        case ("unzip", 3):
            let archive = try ZipArchive(FileSource(URL(fileURLWithPath: arguments[1])))
            try await archive.extract(into: URL(fileURLWithPath: arguments[2]))
        case ("patch", 4):
            let patch = try BSDiffPatch(FileSource(URL(fileURLWithPath: arguments[3])))
            _ = FileManager.default.createFile(atPath: arguments[2], contents: nil)
            let output = try FileHandle(forWritingTo: URL(fileURLWithPath: arguments[2]))
            try patch.apply(to: MappedSource(URL(fileURLWithPath: arguments[1]))) { try output.write(contentsOf: $0) }
        default: throw Failure(description: "no job: \(arguments)")
        }
        say(String(format: "%.1f", ProcessMemory.peakMiB - idle))
    }
}

/// A program of Debian's.
enum Tool {
    /// Runs it to its end, in a directory.
    ///
    /// - Returns: The peak of its memory, in MiB.
    @discardableResult
    static func run(_ path: String, _ arguments: [String], in directory: URL) throws -> Double {
        // Not `Process`: it keeps to itself what the kernel says of the one child.
        let command = ["/bin/sh", "-c", #"cd "$0" && exec "$@""#, directory.path, path] + arguments
        let pointers = command.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        var child = pid_t()
        guard posix_spawn(&child, "/bin/sh", nil, nil, pointers + [nil], environ) == 0 else {
            throw PackTool.Failure(description: "\(path) cannot be started")
        }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(child, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw PackTool.Failure(description: "\(path) was lost") }
        }
        guard status == 0 else { throw PackTool.Failure(description: "\(path) ended with status \(status)") }
        return Double(usage.ru_maxrss) / 1024
    }
}
