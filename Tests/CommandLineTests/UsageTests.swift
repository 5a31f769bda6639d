import Foundation
import Testing

@Suite("Help and wrong usage of waystation")
struct UsageTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let commands = [
        ["pack", "build"], ["pack", "diff"], ["pack", "verify"], ["pack", "inspect"], ["pack", "install"], ["publish"],
        ["renew"], ["rollback"], ["disable"], ["enable"], ["minimum"], ["network"], ["prune"], ["list"],
        ["keys", "generate"],
        ["update"], ["gateway"], ["gateway", "trust"],
    ]

    @Test("every command prints its help with examples, each on one line so that it can be copied", arguments: commands)
    func help(command: [String]) throws {
        let help = try tool.run(command + ["--help"])
        #expect(help.status == 0)
        #expect(help.errors == "")
        #expect(help.output.hasPrefix("OVERVIEW: "))
        #expect(help.output.contains("\n  waystation \(command.joined(separator: " ")) "))
        #expect(help.output.contains("--format <format>"))
        try expectSamples(in: help.output)
    }

    private func expectSamples(in help: String) throws {
        let lines = help.split(separator: "\n", omittingEmptySubsequences: false)
        let first = try #require(lines.firstIndex { $0.hasPrefix("  waystation ") })
        for sample in lines[first...].prefix(while: { !$0.isEmpty }) {
            #expect(sample.hasPrefix("  waystation "), "\(sample)")
            #expect(!sample.hasSuffix("\\"), "\(sample)")
        }
    }

    @Test("without a command the tool lists its commands and its exit codes")
    func root() throws {
        let help = try tool.run()
        #expect(help.status == 0)
        for code in ["0 done", "1 refused", "3 the network", "4 the disk", "64 wrong usage"] {
            #expect(help.output.replacing("\n", with: " ").contains(code), "\(code)")
        }
        for command in Self.commands.compactMap(\.first) { #expect(help.output.contains("\n  \(command) ")) }
        try expectSamples(in: help.output)
    }

    @Test("the version is the newest one in the change log")
    func version() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let log = try String(contentsOf: root.appending(path: "CHANGELOG.md"), encoding: .utf8)
        let newest = try #require(log.firstMatch(of: #/(?m)^## \[?(\d+\.\d+\.\d+)/#)).1
        #expect(try tool.run("--version").output == "\(newest)\n")
    }

    @Test("wrong usage has exit code 64, and changes nothing", arguments: commands)
    func missing(command: [String]) throws {
        let text = try tool.run(command)
        #expect(text.status == 64)
        #expect(text.output == "")
        #expect(text.errors.hasPrefix("Error: "))
        #expect(text.errors.contains("Usage: waystation \(command[0]) "))
        #expect(text.errors.contains("waystation \(command.joined(separator: " ")) "))
        let json = try tool.run(command + ["--format=json"])
        #expect(json.status == 64)
        #expect(json.output == "")
        let error = try #require(try object(json.errors)["error"] as? [String: String])
        #expect(error["code"] == "usage")
        #expect(error["message"]?.isEmpty == false)
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path).isEmpty)
    }

    @Test(
        "invalid and contradictory arguments are wrong usage",
        arguments: [
            ["publish", "1.zip", "--to", "x", "--key", "k", "--rollout", "101"],
            ["publish", "1.zip", "--to", "x", "--key", "k", "--rollout", "nan"],
            ["publish", "1.zip", "--to", "x", "--key", "k", "--deltas", "-1"],
            ["publish", "1.zip", "--to", "x", "--key", "k", "--validity", "0"],
            ["publish", "1.zip", "--to", "x", "--key", "k", "--keep", "0"],
            ["prune", "--to", "x", "--key", "k", "--keep", "0"],
            ["minimum", "shop", "--to", "x", "--key", "k"],
            ["minimum", "shop", "1.0", "--none", "--to", "x", "--key", "k"],
            ["rollback", "../shop", "--to", "x", "--key", "k"],
            ["rollback", "shop", "--to", "x", "--key", "k", "--version", "one"],
            [
                "pack", "build", "x", "--module", "a/b", "--pack-version", "1", "--base-url", "https://a.example/",
                "-o", "z",
            ],
            ["pack", "build", "x", "--module", "a", "--pack-version", "1", "--base-url", "a.example", "-o", "z"],
            ["pack", "diff", "a", "b", "--form", "rar", "-o", "z"],
            ["update", "--in", "x", "--app", "a", "--app-version", "1"],
            ["gateway", "--rules", "k.toml", "--port", "65536"], ["gateway", "--rules", "k.toml", "--port", "http"],
            ["gateway", "--rules", "k.toml", "--proxy", "--no-proxy"],
            ["gateway", "--rules", "k.toml", "--authority", "a", "--no-proxy"], ["doctor", "--port", "-1"],
            ["doctor", "x"],
            ["update", "--in", "x", "--app", "a", "--app-version", "1", "--catalogue", "https://a.example/c"],
            ["update", "--in", "x", "--app", "a", "--app-version", "1", "--single-url", "https://a.example/c"],
            [
                "update", "--in", "x", "--app", "a", "--app-version", "1", "--single-url", "https://a.example/c",
                "--module", "a", "--modules-url", "https://a.example/c",
            ],
        ]
    )
    func impossible(arguments: [String]) throws {
        let outcome = try tool.run(arguments)
        #expect(outcome.status == 64)
        #expect(outcome.output == "")
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.path).isEmpty)
    }

    @Test("a missing file has exit code 4")
    func missingFile() throws {
        let outcome = try tool.run("pack", "inspect", "nothing")
        #expect(outcome.status == 4)
        #expect(outcome.output == "")
        #expect(outcome.errors == "Error: DIR/nothing does not exist: check the path\n")
    }
}
