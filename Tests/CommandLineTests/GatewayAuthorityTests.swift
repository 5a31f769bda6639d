#if Gateway
import Foundation
import Testing
import WaystationProcesses

@Suite("waystation gateway with an authority", .timeLimit(.minutes(20)))
struct GatewayAuthorityTests {
    private let tool: Tool

    init() throws {
        tool = try Tool()
        try tool.write(["site/index.html": "<p>the manual</p>"])
    }

    private static let rules = """
        [gateway]
        port = 0
        proxy = true

        [authority]
        directory = "authority"

        [[rule]]
        url = "https://docs.example/**"
        via = ["files", "nowhere"]
        directory = "site"
        at = "https://docs.example/"

        """

    /// Runs a command of a shell with a home in the folder, without the settings of this machine's user.
    private func shell(_ command: String) async throws -> SpawnedProcessOutcome {
        let (folder, home) = (tool.folder, tool.folder.path(percentEncoded: false))
        let result = await GatewayProcess.apart {
            Result {
                try SpawnedProcess.run(
                    "/bin/sh",
                    ["-c", command],
                    in: folder,
                    environment: ["HOME": home, "CURL_HOME": home, "PATH": "/usr/bin:/bin"],
                    limit: 300
                )
            }
        }
        return try result.get()
    }

    /// The commands of `trust`, with the paths of this machine.
    private func steps(_ arguments: String...) throws -> [[String: Any]] {
        let outcome = try tool.runForBytes(["gateway", "trust"] + arguments + ["--format", "json"])
        try #require(outcome.status == 0, "\(outcome.errors)")
        return try #require(try object(String(decoding: outcome.output, as: UTF8.self))["steps"] as? [[String: Any]])
    }

    // MARK: - Starting

    @Test("answers https through the proxy to a curl that has the authority which the rules name, and to no other")
    func curl() async throws {
        try tool.write(["kiosk.toml": Self.rules])
        let running = try await GatewayProcess(tool.start("gateway", "--rules", "kiosk.toml"))
        let port = running.port
        #expect(
            running.lines == [
                "https://docs.example/  →  http://docs-example.localhost:\(port)/",
                "the proxy is http://127.0.0.1:\(port), with certificates for docs.example",
                """
                the authority is new, because the directory had no authority: `waystation gateway trust` prints the \
                commands that install it in browsers
                """,
                "listening on port \(port), until Ctrl-C",
            ]
        )
        let proxy = "curl -sS --proxy http://127.0.0.1:\(port)"
        let answer = try await shell("\(proxy) --cacert authority/root.pem https://docs.example/")
        #expect(String(decoding: answer.output, as: UTF8.self) == "<p>the manual</p>")
        #expect(try await shell("\(proxy) https://docs.example/").ending == .exited(60))
        #expect(await running.end(by: SIGTERM) == .exited(0))

        let again = try await GatewayProcess(tool.start("gateway", "--rules", "kiosk.toml"))
        #expect(!again.lines.contains { $0.contains("the authority is new") })
        #expect(await again.end(by: SIGTERM) == .exited(0))
    }

    @Test("takes the authority of the command line, which makes it a proxy, and none with --no-proxy")
    func commandLine() async throws {
        try tool.write(["kiosk.toml": Self.rules.replacing("proxy = true", with: "")])
        #expect(try tool.run("gateway", "--rules", "kiosk.toml").errors.contains("`[authority]` has no effect"))
        let running = try await GatewayProcess(
            tool.start("gateway", "--rules", "kiosk.toml", "--authority", "mine", "--format", "json")
        )
        let started = try object(try #require(running.lines.first))
        #expect(started["proxy"] as? String == "http://127.0.0.1:\(running.port)")
        let authority = try #require(started["authority"] as? [String: Any])
        #expect(authority["names"] as? [String] == ["docs.example"])
        #expect((authority["rootCertificate"] as? String)?.hasSuffix("/mine/root.pem") == true)
        #expect(authority["madeBecause"] as? String == "the directory had no authority")
        #expect(await running.end(by: SIGTERM) == .exited(0))
        #expect(try tool.tree("authority") == nil)

        let plain = try await GatewayProcess(tool.start("gateway", "--rules", "kiosk.toml", "--no-proxy"))
        #expect(!plain.lines.contains { $0.contains("proxy") })
        #expect(await plain.end(by: SIGTERM) == .exited(0))
        #expect(try tool.tree("authority") == nil)
    }

    @Test("says at which place the rules have no host for an authority, and warns of hosts without certificates")
    func rulesWithoutHosts() async throws {
        let text = Self.rules.replacing("https://docs.example/**", with: "http://docs.example/**")
        try tool.write(["k.toml": text.replacing("at = \"https", with: "at = \"http")])
        let checked = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(
            checked.output == """
                k.toml:6:13: no rule names a host of https for which a certificate can be made: add a rule such as \
                https://shop.example/**
                  6 | directory = "authority"
                    |             ^^^^^^^^^^^
                k.toml: 1 mistake

                """
        )
        #expect(checked.status == 1)
        for command in [["gateway"], ["gateway", "trust"]] {
            let refused = try tool.run(command + ["--rules", "k.toml"])
            #expect(refused.errors.hasPrefix("Error: k.toml has 1 mistake\nk.toml:6:13: "))
            #expect(refused.status == 1)
        }
        #expect(try tool.tree("authority") == nil)
        try tool.write(["k.toml": Self.rules + "[[rule]]\nurl = \"https://*/**\"\nvia = \"network\"\n"])
        let warned = try tool.run("gateway", "--rules", "k.toml", "--check")
        #expect(
            warned.output == """
                warning: no certificates are made for the hosts of `https://*/**`: connections to them are tunnels, \
                without rules
                k.toml: 2 rules, no mistakes

                """
        )
        #expect(warned.status == 0)
        #expect(try tool.tree("authority") == nil)
    }

    @Test("does not start with a key that others can read, or in a directory that is a file")
    func unusable() throws {
        try tool.write(["kiosk.toml": Self.rules, "taken": ""])
        #expect(try tool.run("gateway", "trust", "--rules", "kiosk.toml").status == 0)
        let key = tool.folder.appending(path: "authority/authority.pem").path(percentEncoded: false)
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: key)
        for command in [["gateway"], ["gateway", "trust"]] {
            let open = try tool.run(command + ["--rules", "kiosk.toml", "--format", "json"])
            let error = try #require(try object(open.errors)["error"] as? [String: String])
            #expect(error["code"] == "unusableAuthority")
            #expect(error["message"]?.contains("its mode is 644, it must be 600") == true)
            #expect(open.status == 1)
            let taken = command + ["--rules", "kiosk.toml", "--authority", "taken"]
            let told = try object(try tool.run(taken + ["--format", "json"]).errors)["error"] as? [String: String]
            #expect(told?["code"] == "unusableDirectory")
            let file = try tool.run(taken)
            #expect(file.errors.hasPrefix("Error: the authority in DIR/taken cannot be opened: "), "\(file.errors)")
            #expect(file.status == 4)
        }
    }

    // MARK: - Trusting

    @Test("prints with `trust` how programs accept the root, and how to take it away")
    func text() throws {
        try tool.write(["kiosk.toml": Self.rules.replacing("port = 0", with: "port = 8080")])
        let outcome = try tool.run("gateway", "trust", "--rules", "kiosk.toml")
        #expect(outcome.status == 0)
        #expect(outcome.errors == "")
        let lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
        #expect(
            lines[0].hasPrefix(
                "DIR/authority/root.pem is the root of an authority for docs.example and all names below, valid until 20"
            )
        )
        #expect(
            lines[1] == """
                The authority is new, because the directory had no authority: install it now, and restart the gateway \
                if it runs.
                """
        )
        #expect(lines[2] == "")
        let programs = lines.filter { $0.hasSuffix(":") && $0 != "to remove it:" }
        #expect(programs.map { $0.prefix { $0 != "," && $0 != " " } } == ["Chromium", "WebKitGTK", "curl", "curl"])
        #expect(
            outcome.output.contains(
                "  curl --cacert 'DIR/authority/root.pem' --proxy http://127.0.0.1:8080 'https://docs.example/'\n"
            )
        )
        let again = try tool.run("gateway", "trust", "--rules", "kiosk.toml")
        #expect(again.output == outcome.output.replacing("\(lines[1])\n", with: ""))
    }

    @Test("prints commands that a shell runs as they are: they install the root for Chromium and curl, and remove it")
    func commands() async throws {
        try tool.write(["kiosk.toml": Self.rules])
        let running = try await GatewayProcess(tool.start("gateway", "--rules", "kiosk.toml"))
        let steps = try steps("--rules", "kiosk.toml")
        func commands(_ index: Int, _ key: String) throws -> [String] { try #require(steps[index][key] as? [String]) }

        let list = #"certutil -d "sql:$HOME/.pki/nssdb" -L"#
        for command in try commands(0, "install") { #expect(try await shell(command).ending == .exited(0)) }
        let installed = String(decoding: try await shell(list).output, as: UTF8.self)
        #expect(installed.contains("waystation-gateway-"))
        for command in try commands(0, "remove") { #expect(try await shell(command).ending == .exited(0)) }
        let removed = String(decoding: try await shell(list).output, as: UTF8.self)
        #expect(!removed.contains("waystation-gateway-"))

        for index in [2, 3] {
            let script = try commands(index, "install").joined(separator: "\n")
                .replacing("PORT", with: "\(running.port)")
            let answer = try await shell(script)
            #expect(answer.ending == .exited(0), "\(String(decoding: answer.errors, as: UTF8.self))")
            #expect(String(decoding: answer.output, as: UTF8.self) == "<p>the manual</p>")
        }
        let undone = try (commands(3, "install").dropLast() + commands(3, "remove") + [commands(3, "install")[1]])
            .joined(separator: "\n").replacing("PORT", with: "\(running.port)")
        #expect(try await shell(undone).ending == .exited(60))
        #expect(await running.end(by: SIGTERM) == .exited(0))
    }

    @Test("warns with `trust` of hosts without certificates, and lists their patterns in JSON")
    func tunnelled() throws {
        try tool.write(["k.toml": Self.rules + "[[rule]]\nurl = \"https://*/**\"\nvia = \"network\"\n"])
        let asText = try tool.run("gateway", "trust", "--rules", "k.toml")
        #expect(asText.status == 0)
        #expect(
            asText.output.contains(
                """
                \nwarning: no certificates are made for the hosts of `https://*/**`: connections to them are tunnels, \
                without rules\n
                """
            )
        )
        let asJSON = try tool.run("gateway", "trust", "--rules", "k.toml", "--format", "json")
        #expect(asJSON.status == 0)
        #expect(try object(asJSON.output)["tunnelled"] as? [String] == ["https://*/**"])
        try tool.write(["kiosk.toml": Self.rules])
        let none = try tool.run("gateway", "trust", "--rules", "kiosk.toml", "--format", "json")
        #expect(try object(none.output)["tunnelled"] as? [String] == [])
    }

    @Test("says with `trust` that the rules name no authority, and takes that of the command line")
    func noAuthority() throws {
        try tool.write(["k.toml": "[[rule]]\nurl = \"https://docs.example/**\"\nvia = [\"pack\", \"nowhere\"]\n"])
        let missing = try tool.run("gateway", "trust", "--rules", "k.toml")
        #expect(
            missing.errors == """
                Error: k.toml names no directory for an authority: write `directory = "authority"` under `[authority]`, \
                or give --authority

                """
        )
        #expect(missing.status == 1)
        #expect(try tool.run("gateway", "trust", "--rules", "k.toml", "--authority", "mine").status == 0)
        #expect(try tool.mode(of: "mine") == 0o700)
        #expect(try tool.mode(of: "mine/authority.pem") == 0o600)
    }
}
#endif
