import Foundation

/// A program of Debian that patches are exchanged with.
struct DebianTool {
    static let bsdiff = DebianTool(name: "bsdiff", package: "bsdiff")
    static let bspatch = DebianTool(name: "bspatch", package: "bsdiff")
    static let zip = DebianTool(name: "zip", package: "zip")

    /// Never a reason to skip a test: `make deps` installs all of them.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let name: String
    let package: String

    /// Runs the program to its end.
    func run(_ arguments: String..., in directory: URL? = nil) throws {
        let process = try process(arguments)
        process.currentDirectoryURL = directory
        try process.run()
        try wait(for: process)
    }

    private func process(_ arguments: [String]) throws -> Process {
        let program = URL(filePath: "/usr/bin/\(name)")
        let fallback = URL(filePath: "/bin/\(name)")
        let found = [program, fallback].first { FileManager.default.isExecutableFile(atPath: $0.path) }
        guard let found else {
            throw Failure(description: "\(name) is not installed: run `make deps`, or install the package \(package)")
        }
        let process = Process()
        process.executableURL = found
        process.arguments = arguments
        return process
    }

    private func wait(for process: Process) throws {
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw Failure(description: "\(name) ended with status \(process.terminationStatus)")
        }
    }
}

/// A folder that is gone with its last owner.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "patch-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    subscript(name: String) -> URL { url.appending(path: name) }

    func path(_ name: String) -> String { self[name].path(percentEncoded: false) }
}
