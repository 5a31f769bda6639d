import Foundation
import Testing
import WaystationProcesses

@Suite("waystation pack")
struct PackCommandTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let description = """
        : pack of shop 1.0
          files           2, 11 B
          base URL        https://shop.example/app/
          base URL        https://www.shop.example/
          released        2026-03-01T12:00:00Z
          needs app       2.0
          lowest version  0.9
          manifest        sha256-2dafb0bb
        """

    @Test("build makes the same bytes each time, and prints a description of the pack")
    func build() throws {
        try tool.write(["site/index.html": "<p>1", "site/a/feed": "<feed/>"])
        let arguments = [
            "pack", "build", "site", "--module", "shop", "--pack-version", "1.0", "--base-url",
            "https://shop.example/app", "--base-url", "https://www.shop.example/", "--released", "2026-03-01T12:00:00Z",
            "--minimum-app-version", "2.0", "--minimum-pack-version", "0.9", "--media-type",
            "a/feed=application/atom+xml", "-o",
        ]
        let built = try tool.run(arguments + ["1.zip"])
        #expect(built.status == 0)
        #expect(built.errors == "")
        let lines = built.output.split(separator: "\n").map(String.init)
        let expected = Self.description.split(separator: "\n").map(String.init)
        #expect(lines.count == expected.count + 3)
        #expect(lines[0] == "1.zip" + expected[0])
        #expect(Array(lines[1..<7]) == Array(expected[1..<7]))
        _ = try tool.run(arguments + ["2.zip"])
        let bytes = try ["1.zip", "2.zip"].map { try Data(contentsOf: tool.folder.appending(path: $0)) }
        #expect(bytes[0] == bytes[1])

        let json = try tool.run("pack", "inspect", "1.zip", "--format", "json")
        let found = try object(json.output)
        #expect(
            found.keys.sorted() == [
                "baseURLs", "contentSize", "files", "kind", "manifest", "md5", "minimumAppVersion",
                "minimumPackVersion", "module", "path", "released", "sha256", "size", "version",
            ]
        )
        #expect(found["kind"] as? String == "zip")
        #expect(found["size"] as? Int == bytes[0].count)
        #expect(found["released"] as? String == "2026-03-01T12:00:00Z")
    }

    @Test("build does not overwrite a file")
    func buildOverNothing() throws {
        try tool.buildPacks()
        let again = try tool.run(
            "pack",
            "build",
            "site",
            "--module",
            "shop",
            "--pack-version",
            "1.4",
            "--base-url",
            "https://shop.example/",
            "-o",
            "1.4.zip"
        )
        #expect(again.status == 1)
        #expect(again.output == "")
        #expect(
            again.errors == """
                Error: DIR/1.4.zip already exists: remove it, or give another name (create DIR/1.4.zip: File exists)

                """
        )
    }

    @Test("build refuses a folder that is missing, is a file or has no files, and writes no pack")
    func buildOfNothing() throws {
        try tool.write(["file": "text", "empty/folder/waystation-pack.json": "{}", "bare/waystation-pack.json": "{}"])
        try FileManager.default.removeItem(at: tool.folder.appending(path: "empty/folder/waystation-pack.json"))
        let refusals: [(folder: String, status: Int32, message: String)] = [
            ("MISTYPED", 4, "DIR/MISTYPED does not exist: check the path"),
            ("file", 1, "DIR/file is not a folder: give the folder of the web files"),
            ("empty", 1, "DIR/empty holds no files, and a pack needs at least one: check the path"),
            ("bare", 1, "DIR/bare holds no files, and a pack needs at least one: check the path"),
        ]
        for refusal in refusals {
            let built = try tool.run(
                ["pack", "build", refusal.folder, "--module", "shop", "--pack-version", "1.0"]
                    + ["--base-url", "https://shop.example/", "-o", "1.zip"]
            )
            #expect(built.status == refusal.status, "\(refusal.folder)")
            #expect(built.output == "")
            #expect(built.errors == "Error: \(refusal.message)\n")
            #expect(!FileManager.default.fileExists(atPath: tool.folder.appending(path: "1.zip").path))
        }
    }

    @Test("with -o - the pack or patch goes to standard output, and its description to standard error")
    func standardOutput() throws {
        try tool.buildPacks()
        try tool.write(["site/index.html": "<p>1.4</p>"])
        let build = [
            "pack", "build", "site", "--module", "shop", "--pack-version", "1.4", "--base-url",
            "https://shop.example/app/", "--released", "2026-03-01T12:00:00Z", "-o", "-",
        ]
        let built = try tool.runForBytes(build)
        #expect(built.output == (try Data(contentsOf: tool.folder.appending(path: "1.4.zip"))))
        #expect(built.errors.hasPrefix("-: pack of shop 1.4\n"))
        let described = try tool.runForBytes(build + ["--format", "json"])
        #expect(described.output == built.output)
        #expect(try object(described.errors)["kind"] as? String == "zip")

        for form in ["content", "zip"] {
            let patch = ["pack", "diff", "1.3.zip", "1.4.zip", "--form", form, "-o"]
            #expect(try tool.run(patch + [form]).status == 0)
            let bytes = try Data(contentsOf: tool.folder.appending(path: form))
            #expect(try tool.runForBytes(patch + ["-"]).output == bytes)
        }
        #expect(!FileManager.default.fileExists(atPath: tool.folder.appending(path: "-").path))
    }

    @Test("a command that fails with -o - writes nothing to standard output")
    func failureToStandardOutput() throws {
        let built = try tool.run(
            ["pack", "build", "MISTYPED", "--module", "shop", "--pack-version", "1.4"]
                + ["--base-url", "https://shop.example/", "-o", "-"]
        )
        #expect(built.status == 4)
        #expect(built.output == "")
    }

    @Test("diff makes both forms of a patch, with the manifests of its base and its result")
    func diff() throws {
        try tool.buildPacks()
        let packs = try ["1.3.zip", "1.4.zip"].map {
            try object(tool.run("pack", "inspect", $0, "--format=json").output)
        }
        let content = try tool.run(
            "pack",
            "diff",
            "1.3.zip",
            "1.4.zip",
            "--form",
            "content",
            "-o",
            "c",
            "--format=json"
        )
        #expect(content.status == 0)
        let patch = try object(content.output)
        #expect(patch.keys.sorted() == ["base", "kind", "md5", "path", "result", "sha256", "size"])
        #expect(patch["kind"] as? String == "contentPatch")
        #expect(patch["base"] as? String == packs[0]["manifest"] as? String)
        #expect(patch["result"] as? String == packs[1]["manifest"] as? String)

        let zip = try tool.run("pack", "diff", "1.3.zip", "1.4.zip", "--form", "zip", "-o", "z")
        #expect(zip.status == 0)
        #expect(zip.output.hasPrefix("z: zip patch (BSDIFF40)\n  makes    "))
        let again = try tool.run("pack", "diff", "1.3.zip", "1.4.zip", "--form", "zip", "-o", "z")
        #expect(again.status == 1)
    }

    @Test("verify refuses a damaged pack and a folder that is not a pack")
    func verify() throws {
        try tool.buildPacks()
        #expect(try tool.run("pack", "verify", "1.3.zip").status == 0)
        _ = try tool.run("pack", "install", "1.3.zip", "--in", "library")
        try tool.write(["broken/index.html": "other"])
        let unzipped = try tool.run("pack", "verify", "broken")
        #expect(unzipped.status == 1)
        #expect(unzipped.errors.hasPrefix("Error: DIR/broken is not a pack: it has no waystation-pack.json;"))

        let file = tool.folder.appending(path: "1.3.zip")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 0xFF
        try bytes.write(to: file)
        let damaged = try tool.run("pack", "verify", "1.3.zip", "--format", "json")
        #expect(damaged.status == 1)
        #expect(damaged.output == "")
        let error = try #require(try object(damaged.errors)["error"] as? [String: String])
        #expect(error["code"] == "damaged")
    }

    @Test(
        "a zip that cannot be read is refused as damaged by every command that reads one",
        arguments: [
            ["pack", "verify", "x.zip"], ["pack", "inspect", "x.zip"], ["pack", "install", "x.zip", "--in", "library"],
            ["pack", "diff", "x.zip", "1.4.zip", "--form", "content", "-o", "patch"],
            ["pack", "diff", "1.4.zip", "x.zip", "--form", "content", "-o", "patch"],
            ["publish", "x.zip", "--to", "releases", "--key", "release.key"],
        ]
    )
    func unreadableZip(_ arguments: [String]) throws {
        try tool.buildPacks()
        if arguments[0] == "publish" { _ = try tool.makeKey() }
        let whole = try Data(contentsOf: tool.folder.appending(path: "1.3.zip"))
        for bytes in [Data("<title>Sign in to this network</title>".utf8), whole.dropLast(30), Data()] {
            try bytes.write(to: tool.folder.appending(path: "x.zip"))
            let refused = try tool.run(arguments + ["--format", "json"])
            #expect(refused.status == 1, "\(bytes.count) bytes: \(refused.errors)")
            #expect(refused.output == "")
            let error = try #require(try object(refused.errors)["error"] as? [String: String])
            #expect(error["code"] == "damaged", "\(bytes.count) bytes: \(refused.errors)")
            #expect(error["message"]?.contains("DIR/x.zip") == true, "\(refused.errors)")
        }
    }

    @Test(
        "limits of a zip are options of every command that reads one",
        arguments: [
            ["pack", "verify", "1.3.zip"], ["pack", "inspect", "1.3.zip"],
            ["pack", "install", "1.3.zip", "--in", "library"],
            ["pack", "diff", "1.3.zip", "1.4.zip", "--form", "content", "-o", "patch"],
            ["publish", "1.3.zip", "--to", "releases", "--key", "release.key"],
        ],
        [
            ["--maximum-entries", "1"], ["--maximum-entry-size", "1B"], ["--maximum-total-size", "1B"],
            ["--maximum-depth", "1"],
        ]
    )
    func zipLimits(_ arguments: [String], limit: [String]) throws {
        try tool.buildPacks()
        if arguments[0] == "publish" { _ = try tool.makeKey() }
        let refused = try tool.run(arguments + limit)
        #expect(refused.status == 1)
        // The error names the limit as the option does, in the spelling of `ZipLimits`.
        let words = limit[0].dropFirst(2).split(separator: "-")
        let name = words[0] + words.dropFirst().map(\.capitalized).joined()
        #expect(refused.errors.contains("raise `\(name)`"), "\(refused.errors)")
        #expect(try tool.run(arguments).status == 0)
    }

    @Test("install accepts a zip beyond the usual limits if its options allow that, and refuses one without files")
    func installBeyondLimits() throws {
        let path = String(repeating: "d/", count: 33) + "page.html"
        try tool.write(["deep/\(path)": "<p>"])
        try FileManager.default.createDirectory(
            at: tool.folder.appending(path: "none/empty"),
            withIntermediateDirectories: true
        )
        for folder in ["deep", "none"] {
            let zipped = try SpawnedProcess.run(
                "/usr/bin/zip",
                ["-qr", "../\(folder).zip", "."],
                in: tool.folder.appending(path: folder)
            )
            #expect(zipped.ending == .exited(0))
        }
        let description = ["--module", "shop", "--pack-version", "1", "--base-url", "https://shop.example/"]
        let install = ["pack", "install", "deep.zip", "--in", "library"] + description
        let bare = try tool.run("pack", "install", "deep.zip", "--in", "library", "--maximum-depth", "34")
        #expect(bare.status == 1)
        #expect(["--module", "--pack-version", "--base-url"].allSatisfy(bare.errors.contains), "\(bare.errors)")
        let refused = try tool.run(install)
        #expect(refused.status == 1)
        #expect(refused.errors.contains("raise `maximumDepth`"))
        #expect(try tool.run(install + ["--maximum-depth", "34"]).status == 0)
        let empty = try tool.run(["pack", "install", "none.zip", "--in", "library"] + description)
        #expect(empty.status == 1)
        #expect(empty.errors.contains("none.zip is empty, it has no files"))
    }

    @Test("install puts a pack into a library; a folder without a manifest needs a description, and the error says so")
    func install() throws {
        try tool.buildPacks()
        let installed = try tool.run("pack", "install", "1.4.zip", "--in", "library", "--format", "json")
        #expect(installed.status == 0)
        let found = try object(installed.output)
        #expect(found.keys.sorted() == ["manifest", "module", "root", "version"])
        let page = tool.folder.appending(
            path: try #require(found["root"] as? String).replacingOccurrences(of: "DIR/", with: "") + "index.html"
        )
        #expect(try String(contentsOf: page, encoding: .utf8) == "<p>1.4</p>")

        let bare = try tool.run("pack", "install", "site", "--in", "library")
        #expect(bare.status == 1)
        #expect(["--module", "--pack-version", "--base-url"].allSatisfy(bare.errors.contains), "\(bare.errors)")
        let described = try tool.run(
            "pack",
            "install",
            "site",
            "--in",
            "library",
            "--module",
            "cart",
            "--pack-version",
            "2",
            "--base-url",
            "https://shop.example/cart/"
        )
        #expect(described.status == 0)
        #expect(described.output.hasPrefix("cart 2 is installed and active: DIR/library/modules/cart/2-"))
        let half = try tool.run("pack", "install", "site", "--in", "library", "--module", "cart")
        #expect(half.status == 64)
    }
}
