#if Gateway
import Foundation
import FoundationNetworking
import Testing
import WaystationProcesses
import WaystationTestSupport
import WaystationTesting

@Suite("waystation gateway", .timeLimit(.minutes(20)))
struct GatewayCommandTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.write([
            "kiosk.toml": """
            [packs]
            directory = "packs"

            [[rule]]
            url = "https://docs.example/**"
            via = ["files", "nowhere"]
            directory = "site"
            at = "https://docs.example/"

            [[rule]]
            url = "https://shop.example/app/**"
            via = ["pack", "nowhere"]
            """,
            "site/index.html": "<p>the manual</p>",
        ])
    }

    @Test(
        "serves files and an installed pack by a rules file, and ends with 0 at a signal",
        arguments: [SIGTERM, SIGINT]
    )
    func serves(signal: Int32) async throws {
        try tool.write(["site.txt": ""])
        let site = tool.folder.appending(path: "site")
        let kept = tool.folder.appending(path: "kept")
        try FileManager.default.moveItem(at: site, to: kept)
        try tool.buildPack("1.4", files: 1)
        #expect(try tool.run("pack", "install", "1.4.zip", "--in", "packs").status == 0)
        try FileManager.default.removeItem(at: site)
        try FileManager.default.moveItem(at: kept, to: site)

        let running = try await GatewayProcess(tool.start("gateway", "--rules", "kiosk.toml", "--port", "0"))
        let port = running.port
        #expect(
            running.lines == [
                "https://docs.example/      →  http://docs-example.localhost:\(port)/",
                "https://shop.example/app/  →  http://shop-example.localhost:\(port)/app/",
                "listening on port \(port), until Ctrl-C",
            ]
        )
        #expect(try await running.get("docs-example.localhost", "/") == (200, "<p>the manual</p>"))
        #expect(try await running.get("shop-example.localhost", "/app/0.html") == (200, "<p>0 of 1.4</p>"))
        #expect(try await running.get("shop-example.localhost", "/app/1.html").status == 404)
        #expect(try await running.get("other-example.localhost", "/").status == 403)
        #expect(await running.end(by: signal) == .exited(0))
    }

    @Test("names the reason once for which the directory of the cache cannot be used")
    func unusableCache() throws {
        let outcome = try tool.run("gateway", "--rules", "kiosk.toml", "--cache", "kiosk.toml")
        #expect(outcome.status == 4)
        #expect(
            outcome.errors
                == "Error: DIR/kiosk.toml cannot hold a store: give it a directory of its own that it can write to "
                + "(open DIR/kiosk.toml: Not a directory)\n"
        )
    }

    @Test("prints one object with --format json, and a line for each load and each refusal with --verbose")
    func output() async throws {
        let errors = tool.folder.appending(path: "errors")
        let running = try await GatewayProcess(
            tool.start(
                "gateway",
                "--rules",
                "kiosk.toml",
                "--port",
                "0",
                "--proxy",
                "--verbose",
                "--format",
                "json",
                errors: .file(errors)
            )
        )
        let started = try object(try #require(running.lines.first))
        #expect(started["port"] as? Int == running.port)
        #expect(started["proxy"] as? String == "http://127.0.0.1:\(running.port)")
        #expect(
            started["pages"] as? [[String: String]] == [
                ["url": "https://docs.example/", "local": "http://docs-example.localhost:\(running.port)/"],
                ["url": "https://shop.example/app/", "local": "http://shop-example.localhost:\(running.port)/app/"],
            ]
        )
        #expect(try await running.get("docs-example.localhost", "/index.html").status == 200)
        #expect(try await running.get("other-example.localhost", "/a?b").status == 403)
        #expect(await running.end(by: SIGTERM) == .exited(0))
        let lines = try String(contentsOf: errors, encoding: .utf8).split(separator: "\n")
        #expect(lines.contains("GET https://docs.example/index.html served from files: 200, 17 bytes"))
        let refused = "GET http://other-example.localhost:\(running.port)/a?b refused with 403: No rule takes "
        #expect(lines.contains { $0.hasPrefix(refused + "https://other.example/a?b. Add a rule") })
        #expect(lines.contains { $0.hasPrefix("warning: no pack is installed in ") })
        #expect(!lines.contains { $0.hasPrefix("listening") })
    }

    @Test("prints the URL of the inspector with --inspect, and has none without it")
    func inspecting() async throws {
        let running = try await GatewayProcess(
            tool.start("gateway", "--rules", "kiosk.toml", "--port", "0", "--inspect")
        )
        let shown = try #require(running.lines.first { $0.hasPrefix("the inspector is http://") })
        let url = try #require(URL(string: String(shown.dropFirst("the inspector is ".count))))
        #expect(url.host == "waystation.localhost")
        #expect(url.port == running.port)
        let target = url.path + (url.query.map { "?\($0)" } ?? "")
        #expect(try await running.get("waystation.localhost", "/").status == 403)
        let entered = try await running.send("waystation.localhost", target)
        #expect(entered.statusCode == 303)
        let cookie = try #require(entered.value(forHTTPHeaderField: "Set-Cookie")?.prefix { $0 != ";" })
        let page = try await running.send("waystation.localhost", "/", cookie: String(cookie))
        #expect(page.statusCode == 200)
        #expect(await running.end(by: SIGTERM) == .exited(0))
        let plain = try await GatewayProcess(tool.start("gateway", "--rules", "kiosk.toml", "--port", "0"))
        #expect(!plain.lines.contains { $0.contains("inspector") })
        #expect(try await plain.get("waystation.localhost", target).status != 200)
    }

    @Test("opens the first page with --open by the first xdg-open in PATH, and says that it is missing")
    func opening() async throws {
        try tool.write([
            "programs/xdg-open": "#!/bin/sh\nprintf '%s\\n' \"$#\" \"$@\" > opened.part && mv opened.part opened\n",
            "empty/file": "",
        ])
        let (programs, empty) = (tool.folder.path + "/programs", tool.folder.path + "/empty")
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: "\(programs)/xdg-open")
        let errors = tool.folder.appending(path: "errors")
        let arguments = ["gateway", "--rules", "kiosk.toml", "--port", "0", "--open"]
        let running = try await GatewayProcess(
            tool.start(
                arguments,
                environment: ["PATH": "\(empty):\(programs):/usr/bin:/bin"],
                output: .lines,
                errors: .file(errors)
            )
        )
        let opened = tool.folder.appending(path: "opened")
        #expect(await eventually { FileManager.default.fileExists(atPath: opened.path(percentEncoded: false)) })
        let page = "http://docs-example.localhost:\(running.port)/"
        #expect(try String(contentsOf: opened, encoding: .utf8) == "1\n\(page)\n")
        #expect(await running.end(by: SIGTERM) == .exited(0))
        #expect(try !String(contentsOf: errors, encoding: .utf8).contains("xdg-open"))

        let missing = try await GatewayProcess(
            tool.start(arguments, environment: ["PATH": empty], output: .lines, errors: .file(errors))
        )
        #expect(
            await eventually {
                let text = (try? String(contentsOf: errors, encoding: .utf8)) ?? ""
                return text.contains("open http://docs-example.localhost:\(missing.port)/ yourself\n")
            }
        )
        #expect(await missing.end(by: SIGTERM) == .exited(0))
    }

    @Test("takes the inspector, rewritten links and timeouts of the file, and no inspector with --no-inspect")
    func settings() async throws {
        try tool.write([
            "k.toml": """
            [gateway]
            proxy = true
            inspector = true
            rewrites-links = true
            tunnel-timeout = "1s"
            [[rule]]
            url = "https://docs.example/**"
            via = ["files", "nowhere"]
            directory = "site"
            at = "https://docs.example/"
            """,
            "site/index.html": "<a href=\"https://docs.example/next\">next</a>",
        ])
        let running = try await GatewayProcess(tool.start("gateway", "--rules", "k.toml"))
        let port = running.port
        #expect(running.lines.contains { $0.hasPrefix("the inspector is http://waystation.localhost:\(port)/") })
        #expect(
            try await running.get("docs-example.localhost", "/").text
                == "<a href=\"http://docs-example.localhost:\(port)/next\">next</a>"
        )
        // The gateway ends a tunnel through which nothing passes; curl would wait for an hour.
        let silent = try ScriptedOrigin { _ in .unanswered }
        let curl = try await GatewayProcess.apart {
            Result {
                try SpawnedProcess.run(
                    "/usr/bin/curl",
                    [
                        "-q", "-sS", "--proxytunnel", "--proxy", "http://127.0.0.1:\(port)", "--max-time", "3600",
                        silent.url().absoluteString,
                    ],
                    limit: 600
                )
            }
        }.get()
        // Usually curl has sent its request by then, and gets no answer (52). On a busy machine the second may pass
        // earlier, and curl fails to send (55) or to receive (56). Only its own limit (28) would be an open tunnel.
        #expect(
            [52, 55, 56].contains { curl.ending == .exited($0) },
            "\(curl.ending) \(String(decoding: curl.errors, as: UTF8.self))"
        )
        #expect(await running.end(by: SIGTERM) == .exited(0))
        let plain = try await GatewayProcess(tool.start("gateway", "--rules", "k.toml", "--no-inspect"))
        #expect(!plain.lines.contains { $0.contains("inspector") })
        #expect(await plain.end(by: SIGTERM) == .exited(0))
    }

    @Test("says which port is in use, with exit code 3")
    func portInUse() throws {
        let other = try ScriptedOrigin { _ in .ok() }
        let outcome = try tool.run("gateway", "--rules", "kiosk.toml", "--port", "\(other.port)")
        #expect(
            outcome.errors.hasSuffix(
                """
                Error: port \(other.port) of 127.0.0.1 is in use: stop the program that has it, or choose another port

                """
            )
        )
        #expect(outcome.output == "")
        #expect(outcome.status == 3)
    }

    @Test("takes the port and the cache of the file, unless the command line has others")
    func replacing() async throws {
        let other = try ScriptedOrigin { _ in .ok() }
        let text = """
            [gateway]
            port = \(other.port)
            [cache]
            directory = "cache"
            [[rule]]
            url = "\(other.url().absoluteString)**"
            via = "cache"
            strategy = "standard"
            """
        try tool.write(["k.toml": text])
        #expect(try tool.run("gateway", "--rules", "k.toml").status == 3)
        let running = try await GatewayProcess(
            tool.start("gateway", "--rules", "k.toml", "--port", "0", "--cache", "mine")
        )
        #expect(try await running.get("127-0-0-1-\(other.port)-http.localhost", "/").status == 200)
        #expect(await running.end(by: SIGTERM) == .exited(0))
        #expect(try tool.tree("mine")?.isEmpty == false)
    }

    @Test("says which directory it cannot use, with exit code 4")
    func unusableDirectory() throws {
        try tool.write(["cache": "a file"])
        let outcome = try tool.run("gateway", "--rules", "kiosk.toml", "--port", "0", "--cache", "cache")
        #expect(outcome.errors.contains("DIR/cache"))
        #expect(outcome.status == 4)
    }
}
#endif
