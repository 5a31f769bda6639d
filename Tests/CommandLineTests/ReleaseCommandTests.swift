import Foundation
import Testing

@Suite("waystation publish, renew, rollback, disable, enable, minimum, network, prune, list")
struct ReleaseCommandTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func change(_ arguments: String...) throws -> Tool.Outcome {
        try tool.run(arguments + ["--to", "releases", "--key", "release.key"])
    }

    @Test("prints the expected text for keys, publishing, rollouts, rollbacks, disabling and enabling")
    func story() throws {
        try tool.buildPacks()
        let publicKey = try tool.makeKey()
        #expect(publicKey.wholeMatch(of: #/ed25519:[A-Za-z0-9+\/]{43}=/#) != nil)
        #expect(try tool.mode(of: "release.key") == 0o600)

        var outcome = try change("publish", "1.3.zip")
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        let sizes = try ["1.3.zip", "1.4.zip"].map { try Data(contentsOf: tool.folder.appending(path: $0)).count }
        #expect(outcome.output == "shop 1.3: \(sizes[0] / 1000) kB\nshop 1.3 is live (catalogue 1)\n")

        outcome = try change("publish", "1.4.zip", "--rollout", "12.5")
        let lines = outcome.output.split(separator: "\n")
        #expect(lines.count == 4)
        #expect(lines[1].wholeMatch(of: #/  content patch from 1\.3: \d+ B/#) != nil)
        #expect(lines[2].wholeMatch(of: #/  zip patch from 1\.3: \d+ B/#) != nil)
        #expect(lines[3] == "shop 1.3 is live, 1.4 for 12.5 % of the clients (catalogue 2)")

        outcome = try change("publish", "1.4.zip", "--rollout", "100")
        #expect(outcome.output.hasSuffix("shop 1.4 is live (catalogue 3)\n"))
        let list = try tool.run("list", "--to", "releases").output.split(separator: "\n")
        #expect(list.count == 3)
        #expect(list[0].wholeMatch(of: #/shop  1\.4  live  \d+ kB  patches: 2/#) != nil)
        #expect(list[1].wholeMatch(of: #/shop  1\.3  -     \d+ kB  patches: 0/#) != nil)
        #expect(list[2].hasPrefix("catalogue 3, valid until "))

        #expect(try change("rollback", "shop").output == "shop 1.3 is live (catalogue 4)\n")
        outcome = try change("rollback", "shop")
        #expect(outcome.status == 1)
        #expect(
            outcome.errors == "Error: no earlier version of shop was live: name a version, or disable the module\n"
        )
        outcome = try change("rollback", "shop", "--version", "1.4", "--format", "json")
        #expect(outcome.status == 1)
        #expect(
            outcome.errors
                == #"{"error":{"code":"invalidArgument","message":"shop 1.4 is not earlier than 1.3, which is live: to go forward, publish it again"}}"#
                + "\n"
        )
        #expect(
            try change("disable", "shop").output
                == "shop 1.3 is live, and the module is switched off (catalogue 5)\n"
        )
        #expect(
            try change("enable", "shop", "--format", "json").output
                == #"{"isActive":true,"live":"1.3","module":"shop","serial":6}"# + "\n"
        )
    }

    @Test("minimum sets and removes a minimum version, and prune removes old releases")
    func minimumAndPruning() throws {
        try tool.buildPacks()
        _ = try tool.makeKey()
        _ = try change("publish", "1.3.zip")
        _ = try change("publish", "1.4.zip", "--deltas", "0")
        #expect(
            try change("minimum", "shop", "1.4").output
                == "shop 1.4 is live, 1.4 is the lowest that may be used (catalogue 3)\n"
        )
        #expect(try change("minimum", "shop", "1.5").status == 1)
        #expect(
            try change("minimum", "shop", "1.4", "--format", "json").output
                == #"{"isActive":true,"live":"1.4","minimumVersion":"1.4","module":"shop","serial":4}"# + "\n"
        )
        #expect(try change("minimum", "shop", "--none").output == "shop 1.4 is live (catalogue 5)\n")
        // Release 1.3 is kept, because a rollback would make it live.
        #expect(try change("prune", "--keep", "1").output == "nothing to remove (catalogue 5)\n")
        _ = try tool.run(
            "pack",
            "build",
            "site",
            "--module",
            "shop",
            "--pack-version",
            "1.5",
            "--base-url",
            "https://shop.example/app/",
            "-o",
            "1.5.zip"
        )
        let outcome = try change("publish", "1.5.zip", "--deltas", "0", "--keep", "1")
        #expect(outcome.output.hasSuffix("  removed 1.3\nshop 1.5 is live (catalogue 7)\n"), "\(outcome)")
        #expect(!FileManager.default.fileExists(atPath: tool.folder.appending(path: "releases/packs/shop/1.3").path))
    }

    @Test("publish refuses a pack with fewer than half of the live pack's files, unless it has --force")
    func fewerFiles() throws {
        _ = try tool.makeKey()
        for (version, count) in [("1.0", 9), ("1.1", 4), ("1.2", 5)] { try tool.buildPack(version, files: count) }
        _ = try change("publish", "1.0.zip")
        let before = try tool.tree("releases")
        let refused = try change("publish", "1.1.zip")
        #expect(refused.status == 1)
        #expect(
            refused.errors
                == "Error: shop 1.1 holds 4 files, but 1.0 holds 9: fewer than half looks like a wrong folder; if that "
                + "is intended, publish it with --force\n"
        )
        #expect(try tool.tree("releases") == before)
        #expect(try change("publish", "1.1.zip", "--force").output.hasSuffix("shop 1.1 is live (catalogue 2)\n"))
        // A version that was published before needs no --force.
        _ = try change("rollback", "shop")
        #expect(try change("publish", "1.1.zip").status == 0)
        _ = try change("rollback", "shop")
        #expect(try change("publish", "1.2.zip").status == 0)
    }

    @Test(
        "a change of a directory in which nothing is published is refused, and makes nothing",
        arguments: [
            ["renew"], ["rollback", "shop"], ["disable", "shop"], ["enable", "shop"], ["minimum", "shop", "1.0"],
            ["network", "shop", "wired"], ["prune", "--keep", "1"],
        ]
    )
    func nothing(command: [String]) throws {
        _ = try tool.makeKey()
        let refused = try tool.run(command + ["--to", "releases", "--key", "release.key"])
        #expect(refused.status == 1)
        #expect(refused.errors == "Error: nothing is published in DIR/releases: check the path\n")
        #expect(try tool.tree("releases") == nil)
    }

    @Test("list names the directory in which nothing is published")
    func emptyList() throws {
        let list = try tool.run("list", "--to", "releases")
        #expect(list.status == 0)
        #expect(list.output == "nothing is published in DIR/releases\n")
    }

    @Test("publish of a file that is no pack names the file, not the copy that is checked")
    func notAPack() throws {
        _ = try tool.makeKey()
        try tool.write(["notes.zip": "no zip"])
        let refused = try change("publish", "notes.zip")
        #expect(refused.status == 1)
        #expect(refused.errors.hasPrefix("Error: DIR/notes.zip cannot be read as a pack ("), "\(refused.errors)")
        #expect(!refused.errors.contains("staging"))
    }

    @Test("renew, and publish of a pack that is already published, keep a rollout")
    func renewing() throws {
        try tool.buildPacks()
        _ = try tool.makeKey()
        _ = try change("publish", "1.3.zip")
        _ = try change("publish", "1.4.zip", "--rollout", "10")
        let state = "shop 1.3 is live, 1.4 for 10 % of the clients"
        #expect(try change("publish", "1.3.zip").output.hasSuffix("\(state) (catalogue 3)\n"))
        #expect(try change("publish", "1.4.zip").output.hasSuffix("\(state) (catalogue 4)\n"))
        let renewed = try change("renew")
        #expect(renewed.status == 0)
        #expect(renewed.output.hasPrefix("catalogue 5 was signed, valid until "))
        let due = try object(change("renew", "--if-due", "--format", "json").output)
        #expect(due.keys.sorted() == ["expires", "renewed", "serial"])
        #expect(due["renewed"] as? Bool == false)
        #expect(try change("renew", "--if-due").output.hasPrefix("nothing to renew: catalogue 5 is valid until "))
        #expect(
            try change("publish", "1.4.zip", "--rollout", "100").output.hasSuffix("shop 1.4 is live (catalogue 6)\n")
        )
    }

    @Test("publish --dry-run prints the plan, and writes nothing")
    func dryRun() throws {
        try tool.buildPacks()
        _ = try tool.makeKey()
        let first = try change("publish", "1.3.zip", "--dry-run")
        #expect(first.status == 0)
        #expect(first.output.hasPrefix("nothing was written; without --dry-run:\nshop 1.3: "))
        #expect(first.output.hasSuffix("\nshop 1.3 is live (catalogue 1)\n"))
        #expect(try tool.tree("releases") == nil)

        _ = try change("publish", "1.3.zip")
        let before = try tool.tree("releases")
        let arguments = [
            "--rollout", "10", "--keep", "1", "--to", "releases", "--key", "release.key", "--format", "json",
        ]
        let planned = try tool.run(["publish", "1.4.zip", "--dry-run"] + arguments).output
        #expect(try tool.tree("releases") == before)
        let done = try tool.run(["publish", "1.4.zip"] + arguments).output
        #expect(planned.contains(#""dryRun":true,"#))
        #expect(planned.replacing(#""dryRun":true,"#, with: "") == done)

        try tool.buildPack("1.2", files: 3)
        #expect(try change("publish", "1.2.zip", "--dry-run").status == 1)
    }

    @Test("publish sets a network condition, and network changes and removes it")
    func network() throws {
        try tool.buildPacks()
        _ = try tool.makeKey()
        #expect(
            try change("publish", "1.3.zip", "--network", "unmetered").output
                .hasSuffix("shop 1.3 is live, downloaded on a network that is unmetered (catalogue 1)\n")
        )
        #expect(
            try change("publish", "1.4.zip", "--format", "json").output
                .contains(#""network":"unmetered","serial":2}"#)
        )
        let refused = try change("network", "shop", "wifi")
        #expect(refused.status == 1)
        #expect(refused.errors.hasPrefix("Error: \"wifi\" is not a network condition: use any, unmetered, "))
        #expect(
            try change("network", "shop", "wired", "--format", "json").output
                == #"{"isActive":true,"live":"1.4","module":"shop","network":"wired","serial":3}"# + "\n"
        )
        #expect(try change("network", "shop", "any").output == "shop 1.4 is live (catalogue 4)\n")
    }

    @Test("publish prints JSON with stable keys")
    func publishJSON() throws {
        try tool.buildPacks()
        _ = try tool.makeKey()
        _ = try change("publish", "1.3.zip")
        let found = try object(change("publish", "1.4.zip", "--deltas", "1", "--format", "json").output)
        #expect(
            found.keys.sorted() == [
                "isNew", "module", "omitted", "patches", "path", "percentage", "size", "state", "version",
            ]
        )
        let patches = try #require(found["patches"] as? [[String: Any]])
        #expect(patches.map { $0["kind"] as? String } == ["content", "zip"])
        #expect(patches[0].keys.sorted() == ["from", "kind", "path", "size"])
        let path = try #require(patches[0]["path"] as? String)
        #expect(FileManager.default.fileExists(atPath: tool.folder.appending(path: "releases/\(path)").path))
        let list = try object(tool.run("list", "--to", "releases", "--format", "json").output)
        #expect(list["serial"] as? Int == 2)
    }

    @Test("keys generate does not overwrite a key, and publish refuses a file without a key")
    func keys() throws {
        try tool.buildPacks()
        _ = try tool.makeKey()
        let before = try Data(contentsOf: tool.folder.appending(path: "release.key"))
        #expect(try tool.run("keys", "generate", "-o", "release.key").status == 1)
        #expect(try Data(contentsOf: tool.folder.appending(path: "release.key")) == before)
        let made = try object(tool.run("keys", "generate", "-o", "other.key", "--format", "json").output)
        #expect(made.keys.sorted() == ["id", "path", "publicKey"])
        let shown = try tool.run("keys", "generate", "-o", "-")
        #expect(shown.output.hasPrefix("ed25519-private:"))
        #expect(shown.errors.hasPrefix("ed25519:"))
        #expect(!"\(made)".contains("private"))

        try tool.write(["no.key": "hello"])
        #expect(try tool.run("publish", "1.3.zip", "--to", "releases", "--key", "no.key").status == 1)
        #expect(try tool.run("publish", "1.3.zip", "--to", "releases", "--key", "missing.key").status == 4)
    }
}
