import Foundation
import Testing
import Waystation
import WaystationTesting

@testable import WaystationCLI

@Suite("waystation doctor", .timeLimit(.minutes(20)))
struct DoctorCommandTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private func checks(_ arguments: String...) throws -> (status: Int32, checks: [String: [String: String]]) {
        let outcome = try tool.run(["doctor", "--json"] + arguments)
        let found = try #require(try object(outcome.output)["checks"] as? [[String: String]], "\(outcome.errors)")
        let named = found.map { ($0["name"] ?? "", $0) }
        return (outcome.status, Dictionary(named, uniquingKeysWith: { first, _ in first }))
    }

    @Test("finds each trap cured, but for those that only another loader corrects, changes nothing, and ends with 0")
    func traps() throws {
        let (status, checks) = try checks("--cache", "cache", "--packs", "packs")
        #expect(status == 0, "\(checks.values.filter { $0["state"] == "failed" })")
        #expect(!checks.values.contains { $0["state"] == "failed" })
        for trap in Trap.allCases {
            let check = try #require(checks[trap.title], "\(trap)")
            #expect(check["state"] == (trap.isCurable ? "cured" : "notCurable"), "\(check)")
            #expect(check["detail"] == Self.fault(of: trap))
            #expect(check["document"] == "Docs/FoundationTraps.md, \(trap.number ?? "below the table")")
            #expect(check["advice"] == trap.advice)
        }
        for name in ["clock", "certificates", "sqlite", "zlib", "bzip2", "brotli", "zstd", "127.0.0.1", "::1"] {
            #expect(checks[name]?["state"] == "fine" || checks[name]?["state"] == "warning", "\(name)")
        }
        for cure in FoundationCure.all {
            let check = try #require(checks["cure of \(cure.trap): \(cure.effect)"], "\(cure)")
            #expect(check["state"] == "fine")
            #expect(check["document"] == "Docs/FoundationTraps.md, Cures that reach into Foundation")
        }
        #expect(checks["cache"]?["detail"] == "DIR/cache does not exist yet and can be made")
        #expect(checks["cache disk"] != nil)
        #expect(checks["temporary files"]?["state"] == "fine")
        #expect(try tool.tree("")?.isEmpty == true)
    }

    /// The fault that plain loads show on this toolchain: the test compares it, so that each trap is found for its own
    /// reason.
    private static func fault(of trap: Trap) -> String {
        switch trap {
        case .loadInsideProtocol, .redirectOfProtocol, .closedStream, .trailer: "the process crashes"
        case .markedRequest: "a property of the request is lost, so a URLProtocol gets its own request again"
        case .partsOfBody: "a completion handler gets only the last part of a protocol's body, “second”"
        case .downloadOfProtocol: "a download that a URLProtocol answers gets no file"
        case .storedResponse: "URLCache stores nothing: two loads are two requests"
        case .queryOfStoredResponse: "the stored response to ?x=1 answers ?x=2"
        case .registeredClass: "the load goes past a registered class"
        case .canonicalRequest: "canonicalRequest(for:) is never called"
        case .bodyOfUpload: "a URLProtocol cannot see the body of an upload"
        case .unansweredChallenge, .droppedConnection: "the load does not end"
        case .refusedResponse: "the delegate gets the body of a response that it refused"
        case .pathOfCookie: "a cookie of /shop is sent to /other"
        case .fieldsOfDecodedBody: "a body of 1300 bytes has a Content-Length of 44"
        case .bodyAfterRedirect: "POST follows a redirect with 307 without its body"
        case .framingOfStream: "a stream is sent with Content-Length and Transfer-Encoding"
        case .suspendedTask: "resuming a suspended task sends the request again"
        case .intervalOfInitializer: "a time-out of 1 s in a request's initializer is ignored"
        case .interimResponse: "the delegate gets the status 103 of an interim response"
        case .credentialBehindRedirect: "the server that redirected gets the credential"
        case .storedCredential: "protection spaces are compared by identity, so a stored credential is not found"
        case .numberInField: "the process crashes"
        case .relativeLocation: "the Location “to” of /folder/from leads to /to"
        case .cutCoding: "half of a gzip body ends the load without an error"
        }
    }

    @Test("tries out each trap of the document that Docs/CommandLine.md does not name as left out")
    func numbers() throws {
        let table = try document("FoundationTraps").matches(of: #/\n\| (L\d+) \|/#).map { String($0.1) }
        let chapter = try #require(
            try document("CommandLine").firstMatch(of: #/\n## Checks of the machine\n((?s:.*?))\n## /#)?.1
        )
        let leftOut = chapter.matches(of: #/\bL\d+\b/#).map { String($0.0) }
        #expect((Trap.allCases.compactMap(\.number) + leftOut).sorted() == table.sorted())
        #expect(chapter.contains("tries out \(Trap.allCases.count) of "))
        let article = "Sources/Waystation/Waystation.docc/Traps.md"
        #expect(try text(of: article).contains("tries out \(Trap.allCases.count) of "))
    }

    private func document(_ name: String) throws -> String { try text(of: "Docs/\(name).md") }

    private func text(of path: String) throws -> String {
        try String(contentsOf: Self.root.appending(path: path), encoding: .utf8)
    }

    @Test("says what is wrong with a directory, and has exit code 1")
    func directories() throws {
        try tool.write(["file": "x", "open/a": "x", "fine/a": "x"])
        let folder = tool.folder
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o777],
            ofItemAtPath: folder.appending(path: "open").path
        )
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o755],
            ofItemAtPath: folder.appending(path: "fine").path
        )
        try FileManager.default.createSymbolicLink(
            at: folder.appending(path: "link"),
            withDestinationURL: folder.appending(path: "fine")
        )
        for (path, detail) in [
            ("file", "DIR/file is a file"), ("file/cache", "DIR/file/cache cannot be made: DIR/file is a file"),
            ("open", "other users may write to DIR/open"), ("link", "DIR/link is a symbolic link"),
        ] + Self.unwritable {
            let place = path.hasPrefix("/") ? path : folder.appending(path: path).path(percentEncoded: false)
            let found = DirectoryChecks.all("cache", URL(filePath: place, directoryHint: .isDirectory))
            #expect(found.map(\.state) == [.failed], "\(path)")
            #expect(found.first.map { tool.withoutFolder($0.detail) } == detail)
            #expect(found.first?.advice?.isEmpty == false)
        }
        let (status, checks) = try checks("--cache", "open", "--packs", "fine")
        #expect(status == 1)
        #expect(checks["cache"]?["state"] == "failed")
        #expect(checks["cache"]?["detail"] == "other users may write to DIR/open")
        #expect(checks["cache"]?["advice"]?.isEmpty == false)
        #expect(checks["cache disk"] == nil)
        #expect(checks["packs"]?["state"] == "fine")
        #expect(checks["packs"]?["detail"] == "DIR/fine can be used")
        #expect(try tool.tree("fine")?.keys.sorted() == ["a"])
    }

    /// Directories that no user can write; the messages depend on the user.
    private static let unwritable: [(String, String)] =
        geteuid() == 0
        ? [
            ("/proc", "/proc cannot be written: No such file or directory"),
            ("/proc/cache", "/proc/cache cannot be made: /proc cannot be written: No such file or directory"),
        ] : [("/proc", "/proc belongs to the user with the number 0, not to \(geteuid())")]

    @Test("shows a table, and what to do about a port in use")
    func text() throws {
        let other = try ScriptedOrigin { _ in .ok() }
        let outcome = try tool.run("doctor", "--port", "\(other.port)")
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("\nfailed       port \(other.port) "))
        #expect(outcome.output.contains("\ncured        a completion handler gets the whole body "))
        #expect(
            outcome.output.contains("\n  port \(other.port): stop the program that has it (`ss -ltnp` names it), or ")
        )
        #expect(outcome.output.contains(#/\n\n\d+ checks? failed\n$/#))
        #expect(outcome.errors == "")
    }

    @Test("names a missing bundle of certificates")
    func certificates() throws {
        let missing = tool.folder.appending(path: "none.pem").path
        let outcome = try tool.run(["doctor", "--json"], environment: ["SSL_CERT_FILE": missing])
        #expect(outcome.status == 1)
        #expect(outcome.output.contains("no certificate authority in "))
        #expect(outcome.output.contains("correct the variable SSL_CERT_FILE, or remove it"))
    }

    @Test("a machine behind a proxy finds the same traps, because the doctor's own loads do not use it")
    func proxy() throws {
        let outcome = try tool.run(
            ["doctor", "--json"],
            environment: ["http_proxy": "http://127.0.0.1:9", "ALL_PROXY": "http://127.0.0.1:9"]
        )
        #expect(outcome.status == 0)
        let found = try #require(try object(outcome.output)["checks"] as? [[String: String]])
        #expect(found.filter { $0["state"] == "cured" }.count == Trap.allCases.filter(\.isCurable).count)
    }

    @Test("prints its help with an example, without the command that tries out one trap")
    func help() throws {
        let help = try tool.run("doctor", "--help")
        #expect(help.status == 0)
        #expect(help.output.contains("\n  waystation doctor --cache "))
        #expect(try !tool.run("--help").output.contains("doctor-trap"))
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}

@Suite("The judgements of the doctor")
struct DoctorJudgementTests {
    @Test("a clock is wrong if it is a day before the program was made")
    func clock() {
        let built = Date(timeIntervalSince1970: 1_800_000_000)
        #expect(MachineChecks.clock(now: built.addingTimeInterval(-90_000), built: built).state == .failed)
        #expect(MachineChecks.clock(now: built.addingTimeInterval(-3_600), built: built).state == .fine)
        #expect(MachineChecks.clock(now: Date(timeIntervalSince1970: 0), built: nil).state == .fine)
    }

    @Test("names below localhost must lead to this machine")
    func names() {
        #expect(NetworkChecks.localNames(["127.0.0.1", "::1"]).state == .fine)
        #expect(NetworkChecks.localNames([]).state == .warning)
        #expect(NetworkChecks.localNames(["127.0.0.1", "192.0.2.7"]).state == .failed)
    }

    @Test("a disk needs 64 MiB, and should have 512")
    func disk() {
        #expect(DirectoryChecks.disk("disk", free: 64 << 20 - 1).state == .failed)
        #expect(DirectoryChecks.disk("disk", free: 64 << 20).state == .warning)
        #expect(DirectoryChecks.disk("disk", free: 512 << 20).state == .fine)
    }

    @Test("a machine on which nothing failed needs nothing, whatever else was found")
    func summary() {
        let states: [Finding.State] = [.fine, .cured, .notCurable, .warning]
        let findings = states.map { Finding(name: "\($0)", state: $0, detail: "a detail") }
        #expect(DoctorResult(findings).failed == 0)
        #expect(DoctorResult(findings).text.hasSuffix("\n\nnothing must be done"))
        let failing = DoctorResult(findings + [.failed("disk", "a detail", "an advice")])
        #expect(failing.failed == 1)
        #expect(failing.text.hasSuffix("\n  disk: an advice\n\n1 check failed"))
    }

    @Test("SQLite must be of the end of 2018 or later")
    func sqlite() {
        #expect(LibraryChecks.sqlite(version: 3_025_003, name: "3.25.3").state == .failed)
        #expect(LibraryChecks.sqlite(version: 3_026_000, name: "3.26.0").state == .fine)
    }

    @Test(
        "a trap is fine, cured, not curable or a failure by its loads without and with Waystation",
        arguments: [
            (.right, nil, .fine), (.wrong("crashes"), nil, .notCurable), (.wrong("crashes"), .right, .cured),
            (.wrong("crashes"), .wrong("hangs"), .failed), (.unknown("no memory"), nil, .failed),
            (.wrong("crashes"), .unknown("no memory"), .failed),
        ] as [(TrapChecks.Outcome, TrapChecks.Outcome?, Finding.State)]
    )
    func traps(plain: TrapChecks.Outcome, cured: TrapChecks.Outcome?, state: Finding.State) {
        let finding = TrapChecks.finding(.partsOfBody, plain: plain, cured: cured)
        #expect(finding.state == state)
        #expect((finding.advice != nil) == (state == .failed))
        #expect(finding.document == "Docs/FoundationTraps.md, L5")
    }

    @Test("a cure that does not know the layout of this toolchain is a warning, and one that is not needed is fine")
    func cures() {
        func finding(isNeeded: Bool = true, missing: String?) -> Finding {
            let cure = FoundationCure("L1", "it works", without: "it breaks", isNeeded: isNeeded, missing: missing)
            return CureChecks.finding(cure)
        }
        let applied = finding(missing: nil)
        #expect(applied.name == "cure of L1: it works")
        #expect(applied.state == .fine && applied.advice == nil)
        let gone = finding(isNeeded: false, missing: "Task.flag: Bool")
        #expect(gone.state == .fine && gone.advice == nil)
        #expect(gone.detail == "not needed: this toolchain does not have the fault")
        let unknown = finding(missing: "Task.flag: Bool")
        #expect(unknown.state == .warning)
        #expect(unknown.detail == "not applied: this toolchain has no Task.flag: Bool")
        #expect(unknown.advice?.hasSuffix("until then, it breaks") == true)
    }

    @Test("a trap that Waystation cannot cure has its advice")
    func advice() {
        let finding = TrapChecks.finding(.trailer, plain: .wrong("crashes"), cured: nil)
        #expect(finding.state == .notCurable)
        #expect(finding.advice?.contains(".nio") == true)
        #expect(TrapChecks.finding(.trailer, plain: .right, cured: nil).advice == nil)
    }
}
