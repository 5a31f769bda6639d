import Foundation
import Testing
import WaystationTesting

@Suite("waystation update")
struct UpdateCommandTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    /// Serves the release directory as a static file server does.
    private func serveReleases() throws -> ScriptedOrigin {
        let root = tool.folder.appending(path: "releases")
        return try ScriptedOrigin { request in
            guard let body = try? Data(contentsOf: root.appending(path: String(request.path.dropFirst()))) else {
                return .status(404)
            }
            return .ok(body)
        }
    }

    private func update(_ origin: ScriptedOrigin, trusting key: String, _ more: String...) throws -> Tool.Outcome {
        try tool.run(
            [
                "update", "--in", "library", "--app", "shop", "--app-version", "2.0", "--catalogue",
                origin.url("/catalogue.json").absoluteString, "--trust", key,
            ] + more
        )
    }

    @Test("installs the first version, updates by a patch, rolls back and disables as the catalogue says")
    func follow() async throws {
        try tool.buildPacks()
        let key = try tool.makeKey()
        let release = ["--to", "releases", "--key", "release.key"]
        _ = try tool.run(["publish", "1.3.zip"] + release)
        let origin = try serveReleases()

        var outcome = try update(origin, trusting: key)
        #expect(outcome.status == 0)
        #expect(outcome.output.wholeMatch(of: #/shop none → 1\.3 by whole, (\d+) bytes instead of \1\n/#) != nil)
        #expect(outcome.errors.split(separator: "\n").first == "shop: downloading")

        #expect(try update(origin, trusting: key).output == "shop 1.3 is up to date\n")
        #expect(try update(origin, trusting: key, "--if-due").output.hasPrefix("not asked before "))

        _ = try tool.run(["publish", "1.4.zip"] + release)
        outcome = try update(origin, trusting: key, "--format", "json")
        #expect(outcome.errors == "")
        let outcomes = try #require(try object(outcome.output)["outcomes"] as? [[String: Any]])
        #expect(outcomes.count == 1)
        #expect(outcomes[0]["outcome"] as? String == "updated")
        #expect(outcomes[0]["way"] as? String == "contentPatch")
        #expect(outcomes[0]["to"] as? String == "1.4")

        _ = try tool.run(["rollback", "shop"] + release)
        #expect(try update(origin, trusting: key).output == "shop 1.4 → 1.3, which was installed\n")
        _ = try tool.run(["disable", "shop"] + release)
        #expect(try update(origin, trusting: key).output == "shop 1.3 switched off\n")
    }

    @Test("refuses a zip beyond the limits of its options, and names the limit")
    func limits() throws {
        try tool.buildPacks()
        let key = try tool.makeKey()
        _ = try tool.run(["publish", "1.3.zip", "--to", "releases", "--key", "release.key"])
        let origin = try serveReleases()
        let refused = try update(origin, trusting: key, "--maximum-entry-size", "1B")
        #expect(refused.status != 0)
        #expect((refused.output + refused.errors).contains("raise `maximumEntrySize`"))
    }

    @Test("postpones a download because of a network condition, unless it has --any-network")
    func network() async throws {
        try tool.buildPacks()
        let key = try tool.makeKey()
        // The tool does not know this condition, so it is not met on any machine.
        _ = try tool.run(
            ["publish", "1.3.zip", "--network", "x-office", "--to", "releases", "--key", "release.key"]
        )
        let origin = try serveReleases()
        let postponed = try update(origin, trusting: key, "--format", "json")
        #expect(postponed.status == 0)
        #expect(postponed.output.contains("x-office"))
        #expect(postponed.output.contains(#""outcome":"postponed""#))
        #expect(
            try update(origin, trusting: key).output.hasPrefix(
                "shop none stays: the server allows the download only on a network that is x-office, "
            )
        )
        #expect(try update(origin, trusting: key, "--any-network").output.hasPrefix("shop none → 1.3 by whole, "))
    }

    @Test("fails with exit code 1 for a catalogue without a trusted signature, with 3 for a missing pack")
    func failures() async throws {
        try tool.buildPacks()
        let key = try tool.makeKey()
        let other = try tool.makeKey("other.key")
        _ = try tool.run("publish", "1.3.zip", "--to", "releases", "--key", "release.key")
        let origin = try serveReleases()
        let refused = try update(origin, trusting: other, "--format", "json")
        #expect(refused.status == 1)
        #expect(try (object(refused.errors)["error"] as? [String: String])?["code"] == "untrusted")
        try FileManager.default.removeItem(at: tool.folder.appending(path: "releases/packs"))
        let missing = try update(origin, trusting: key)
        #expect(missing.status == 3)
        #expect(missing.output.hasPrefix("shop none stays: refused: "))
    }
}
