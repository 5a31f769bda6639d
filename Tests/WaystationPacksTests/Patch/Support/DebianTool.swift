import Foundation
import WaystationProcesses
import WaystationTestSupport

/// A program of Debian that makes or applies patches.
struct DebianTool {
    static let bsdiff = DebianTool(name: "bsdiff")
    static let bspatch = DebianTool(name: "bspatch")
    static let zip = DebianTool(name: "zip")

    /// A failure is never a reason to skip a test: `make deps` installs all the programs.
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let name: String

    /// Runs the program to its end.
    func run(_ arguments: String..., in directory: URL? = nil) throws {
        let outcome = try SpawnedProcess.run("/usr/bin/\(name)", arguments, in: directory)
        guard outcome.ending == .exited(0) else {
            throw Failure(description: "\(name): \(outcome.ending) \(String(decoding: outcome.errors, as: UTF8.self))")
        }
    }
}

/// A folder that is deleted with the last reference to this object.
final class TemporaryFolder {
    let url = FileManager.default.temporaryDirectory.appending(path: "patch-\(UUID().uuidString)")

    init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }

    deinit { try? FileManager.default.removeItem(at: url) }

    subscript(name: String) -> URL { url.appending(path: name) }

    func path(_ name: String) -> String { self[name].path(percentEncoded: false) }
}
