import Foundation
import Testing
import WaystationProcesses
import WaystationTestSupport

/// A temporary working folder, and the tool, which runs as a separate process.
final class Tool: Sendable {
    struct Outcome: Sendable {
        let status: Int32
        let output: String
        let errors: String
    }

    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "waystation-tool-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The path of the tool, in the folder of the test bundle.
    static var executable: URL {
        let own = URL(filePath: CommandLine.arguments[0]).resolvingSymlinksInPath()
        let loaded = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")).map {
            URL(filePath: $0)
        }
        let candidates = [own, loaded].compactMap { $0?.deletingLastPathComponent().appending(path: "waystation") }
        return candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) } ?? candidates[0]
    }

    /// The seconds after which a run is killed, so that a command that does not end fails its test.
    private static let limit = 600.0

    /// Runs the tool in the folder, and waits for its end.
    func run(_ arguments: String...) throws -> Outcome { try run(arguments) }

    /// Runs the tool with further variables in its environment, and with other files in the place of files of the system.
    func run(
        _ arguments: [String],
        environment: [String: String] = [:],
        replacing files: [String: String] = [:]
    ) throws -> Outcome {
        let environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        let command = ReplacedFiles(files, for: Self.executable.path, arguments)
        let outcome = try SpawnedProcess.run(
            command.executable,
            command.arguments,
            in: folder,
            environment: environment,
            limit: Self.limit
        )
        guard case .exited(let status) = outcome.ending else {
            throw Crash(description: "\(arguments): \(outcome.ending) \(text(outcome.errors))")
        }
        return Outcome(status: status, output: text(outcome.output), errors: text(outcome.errors))
    }

    /// Starts the tool in the folder, with its standard output as lines; the caller ends it.
    func start(
        _ arguments: String...,
        errors: SpawnedProcess.Output = .discarded,
        environment: [String: String] = [:]
    ) throws -> SpawnedProcess {
        let environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        return try SpawnedProcess(
            Self.executable.path,
            arguments,
            in: folder,
            environment: environment,
            output: .lines,
            errors: errors
        )
    }

    /// Starts the tool in the folder, with further variables in its environment; the caller waits for its end.
    func start(
        _ arguments: [String],
        environment: [String: String],
        output: SpawnedProcess.Output = .discarded,
        errors: SpawnedProcess.Output = .discarded
    ) throws -> SpawnedProcess {
        try SpawnedProcess(
            Self.executable.path,
            arguments,
            in: folder,
            environment: ProcessInfo.processInfo.environment.merging(environment) { _, new in new },
            output: output,
            errors: errors
        )
    }

    /// Runs the tool, and returns its output as bytes.
    func runForBytes(_ arguments: [String]) throws -> (status: Int32, output: Data, errors: String) {
        let outcome = try SpawnedProcess.run(Self.executable.path, arguments, in: folder, limit: Self.limit)
        guard case .exited(let status) = outcome.ending else {
            throw Crash(description: "\(arguments): \(outcome.ending) \(text(outcome.errors))")
        }
        return (status, outcome.output, text(outcome.errors))
    }

    /// Runs the tool with its standard output on a disk that is full.
    func runOnFullDisk(_ arguments: [String]) throws -> (status: Int32, errors: String) {
        let errors = folder.appending(path: "errors.txt")
        let process = try SpawnedProcess(
            Self.executable.path,
            arguments,
            in: folder,
            output: .file(URL(filePath: "/dev/full")),
            errors: .file(errors)
        )
        guard case .exited(let status)? = process.wait(idleFor: Self.limit) else {
            throw Crash(description: "\(arguments): the tool did not exit by itself")
        }
        return (status, text(try Data(contentsOf: errors)))
    }

    /// Writes this many files into the folder `site`, and builds a pack of it.
    func buildPack(_ version: String, files count: Int) throws {
        try? FileManager.default.removeItem(at: folder.appending(path: "site"))
        for number in 0..<count { try write(["site/\(number).html": "<p>\(number) of \(version)</p>"]) }
        let built = try run(
            ["pack", "build", "site", "--module", "shop", "--pack-version", version]
                + ["--base-url", "https://shop.example/app/", "-o", "\(version).zip"]
        )
        try #require(built.status == 0, "\(built.errors)")
    }

    /// The names and bytes of all files below a folder; nil if the folder does not exist.
    func tree(_ path: String) throws -> [String: Data]? {
        let root = folder.appending(path: path)
        guard FileManager.default.fileExists(atPath: root.path) else { return nil }
        var found: [String: Data] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: root.path) {
            found[name] = (try? Data(contentsOf: root.appending(path: name))) ?? Data()
        }
        return found
    }

    struct Crash: Error, CustomStringConvertible { let description: String }

    private func text(_ bytes: Data) -> String { withoutFolder(String(decoding: bytes, as: UTF8.self)) }

    /// The text with `DIR/` in place of the folder's path, which differs from run to run.
    func withoutFolder(_ text: String) -> String {
        text
            .replacingOccurrences(of: folder.resolvingSymlinksInPath().path(percentEncoded: false), with: "DIR/")
            .replacingOccurrences(of: "DIR//", with: "DIR/")
    }

    func write(_ files: [String: String]) throws {
        for (path, text) in files {
            let file = folder.appending(path: path)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data(text.utf8).write(to: file)
        }
    }

    func mode(of path: String) throws -> Int? {
        let path = folder.appending(path: path).path(percentEncoded: false)
        return try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
    }

    /// Two versions of a pack, `1.3.zip` and `1.4.zip`, whose bytes are always the same.
    func buildPacks() throws {
        let common = (0..<4000).map { "line \($0 &* 2_654_435_761 % 1_000_003)\n" }.joined()
        for version in ["1.3", "1.4"] {
            try write(["site/index.html": "<p>\(version)</p>", "site/lib/common.js": common])
            let built = try run(
                "pack",
                "build",
                "site",
                "--module",
                "shop",
                "--pack-version",
                version,
                "--base-url",
                "https://shop.example/app/",
                "--released",
                "2026-03-01T12:00:00Z",
                "-o",
                "\(version).zip"
            )
            try #require(built.status == 0, "\(built.errors)")
        }
    }

    /// Makes `release.key`, and returns the public key.
    func makeKey(_ name: String = "release.key") throws -> String {
        let made = try run("keys", "generate", "-o", name)
        try #require(made.status == 0, "\(made.errors)")
        return made.output.trimmingCharacters(in: .newlines)
    }
}

/// A JSON object as a dictionary.
func object(_ text: String) throws -> [String: Any] {
    try #require(try JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
}
