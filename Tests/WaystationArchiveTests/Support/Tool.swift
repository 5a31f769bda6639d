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
        try #require(FileManager.default.isExecutableFile(atPath: file), "\(file) is not installed: run `make deps`")
        let output = FileManager.default.temporaryDirectory.appending(path: "tool-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: output) }
        // Not by `Process`, which crashes now and then where many threads and files are in use.
        let job = stream == nil ? #""$@""# : #"stream=$1; shift; "$@" | cat >"$stream""#
        let script = #"out=$0; cd "$1" || exit; shift; { "# + job + #"; } >"$out" 2>&1 </dev/null"#
        let command: [String] =
            ["/bin/sh", "-c", script, output.path, directory] + [stream].compactMap(\.self) + [file] + arguments
        let pointers = command.map { strdup($0) }
        let variables: [String] = ["PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8", "TZ=UTC"]
        let environment = variables.map { strdup($0) }
        defer { for pointer in pointers + environment { free(pointer) } }
        var child = pid_t()
        try #require(posix_spawn(&child, "/bin/sh", nil, nil, pointers + [nil], environment + [nil]) == 0)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0 { try #require(errno == EINTR) }
        let text = String(decoding: try Data(contentsOf: output), as: UTF8.self)
        try #require(status == 0, "\(rawValue) \(arguments.joined(separator: " ")): \(text)")
        return text
    }
}
