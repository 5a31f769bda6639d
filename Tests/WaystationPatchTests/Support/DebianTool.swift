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
    ///
    /// Not by `Process`, which crashes now and then where many threads and files are in use.
    func run(_ arguments: String..., in directory: URL? = nil) throws {
        let found = ["/usr/bin/\(name)", "/bin/\(name)"].first { FileManager.default.isExecutableFile(atPath: $0) }
        guard let found else {
            throw Failure(description: "\(name) is not installed: run `make deps`, or install the package \(package)")
        }
        let script = #"cd "$0" && exec "$@""#
        let command = ["/bin/sh", "-c", script, directory?.path ?? "/", found] + arguments
        let pointers = command.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        var child = pid_t()
        guard posix_spawn(&child, "/bin/sh", nil, nil, pointers + [nil], environ) == 0 else {
            throw Failure(description: "\(name) cannot be started")
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 {
            guard errno == EINTR else { throw Failure(description: "\(name) was lost") }
        }
        guard status == 0 else { throw Failure(description: "\(name) ended with status \(status)") }
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
