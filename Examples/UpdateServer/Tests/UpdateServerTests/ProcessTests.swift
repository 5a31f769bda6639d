import Foundation
import Testing
import WaystationPacks
import WaystationProcesses
import WaystationPublishing
import WaystationTestSupport

@testable import UpdateServer

@Suite("The process")
struct ProcessTests {
    /// The server's program is next to the test bundle.
    private static var executable: URL {
        get throws {
            let bundle = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
            let candidates = [bundle, CommandLine.arguments[0]].map {
                URL(filePath: $0).resolvingSymlinksInPath().deletingLastPathComponent().appending(path: "update-server")
            }
            return try #require(candidates.first { FileManager.default.isExecutableFile(atPath: $0.path) })
        }
    }

    /// Starts a server, after commands of the shell that set its limits, with its log among the lines of its output.
    private func server(
        in platform: Platform,
        token: String = Platform.token,
        after commands: String = ":",
        temporary: URL? = nil
    ) throws -> SpawnedProcess {
        let key = platform.folder.appending(path: "release.key")
        try KeyFile.write(platform.key, to: key)
        var environment = ProcessInfo.processInfo.environment
        environment["UPDATE_SERVER_TOKEN"] = token
        if let temporary { environment["TMPDIR"] = temporary.path }
        return try SpawnedProcess(
            "/bin/sh",
            [
                "-c", #"\#(commands); exec "$0" "$@""#, Self.executable.path, "--releases", platform.root.path, "--key",
                key.path, "--port", "0",
            ],
            environment: environment,
            output: .lines,
            errors: .lines
        )
    }

    /// The port at which a server listens.
    private func port(of process: SpawnedProcess) throws -> UInt16 {
        while let line = process.readLine() {
            if let match = line.wholeMatch(of: #/listening at http:\/\/127\.0\.0\.1:(\d+)\//#) {
                return try #require(UInt16(match.output.1))
            }
        }
        Issue.record("the server ended")
        return 0
    }

    /// Whether a line of the log has this text.
    private func logs(_ text: String, _ process: SpawnedProcess) -> Bool {
        while let line = process.readLine() { if line.contains(text) { return true } }
        return false
    }

    /// Sends a pack with the token, and returns the answer.
    private func upload(_ pack: URL, to port: UInt16) throws -> String {
        let body = try Data(contentsOf: pack)
        let client = try RawClient(port: port)
        client.send(
            """
            POST /api/modules/shop/publish HTTP/1.1\r
            Host: localhost\r
            Authorization: Bearer \(Platform.token)\r
            Content-Length: \(body.count)\r
            Connection: close\r
            \r

            """
        )
        client.send(bytes: Array(body))
        return client.receiveAll().bytes
    }

    @Test("prints its address, serves there on loopback, and shuts down cleanly on a signal")
    func life() async throws {
        let platform = try Platform()
        let process = try server(in: platform)
        let address = try #require(URL(string: "http://127.0.0.1:\(port(of: process))/"))
        let source = CatalogueSource(
            address.appending(path: "catalogue.json"),
            trusting: [platform.key.trusted],
            fetcher: URLSessionFetcher(configuration: .patient)
        )
        let inquiry = UpdateInquiry(
            app: AppIdentity(code: "shop", version: try #require(PackVersion("1.0"))),
            modules: [],
            installID: "one"
        )
        #expect(try await source.check(inquiry).catalogueState?.serial == 1)
        process.send(SIGTERM)
        #expect(process.wait() == .exited(0))
    }

    @Test("answers 507 to an upload if its temporary directory is missing, and logs why")
    func missingTemporaryDirectory() throws {
        let platform = try Platform()
        let process = try server(in: platform, temporary: platform.folder.appending(path: "missing"))
        defer { process.send(SIGKILL) }
        let answer = try upload(platform.pack("1.0"), to: port(of: process))
        #expect(answer.hasPrefix("HTTP/1.1 507 Insufficient Storage\r\n"))
        #expect(answer.contains(#"{"error":{"code":"noSpace","message":"the server has no room for the upload"#))
        #expect(!answer.contains(platform.folder.path))
        #expect(logs("refused", process))
    }

    @Test("answers 507 to an upload that does not fit, logs why, and keeps nothing of it")
    func fullTemporaryDirectory() throws {
        let platform = try Platform()
        let temporary = platform.folder.appending(path: "temporary")
        try FileManager.default.createDirectory(at: temporary, withIntermediateDirectories: false)
        // A write beyond the largest size of a file fails as one to a full disk does.
        let process = try server(in: platform, after: "trap '' XFSZ; ulimit -f 64", temporary: temporary)
        defer { process.send(SIGKILL) }
        let answer = try upload(platform.pack("1.0", size: Platform.large), to: port(of: process))
        #expect(answer.hasPrefix("HTTP/1.1 507 Insufficient Storage\r\n"))
        #expect(answer.contains(#""code":"noSpace""#))
        #expect(logs("refused", process))
        #expect(try FileManager.default.contentsOfDirectory(atPath: temporary.path).isEmpty)
    }

    @Test("removes the uploads of killed servers when it starts, and none of a server that runs")
    func leftOvers() throws {
        let platform = try Platform()
        let temporary = platform.folder.appending(path: "temporary")
        let names = ["left", "locked"].map { _ in "update-server-\(UUID().uuidString)" } + ["update-server-other"]
        for name in names {
            let folder = temporary.appending(path: name)
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data("upload".utf8).write(to: folder.appending(path: "pack.zip"))
        }
        let lock = open(temporary.appending(path: names[1]).path, O_RDONLY | O_CLOEXEC)
        defer { close(lock) }
        #expect(flock(lock, LOCK_EX | LOCK_NB) == 0)
        let process = try server(in: platform, temporary: temporary)
        defer { process.send(SIGKILL) }
        _ = try port(of: process)
        #expect(try Set(FileManager.default.contentsOfDirectory(atPath: temporary.path)) == Set(names.dropFirst()))
    }

    @Test(
        "logs that it is out of descriptors, and accepts connections again once it has some",
        .timeLimit(.minutes(10))
    )
    func outOfDescriptors() throws {
        let platform = try Platform()
        let process = try server(in: platform, after: "ulimit -n 64")
        defer { process.send(SIGKILL) }
        let port = try port(of: process)
        var clients = try (0..<100).map { _ in try RawClient(port: port) }
        #expect(logs("no connection can be accepted", process))
        clients.removeAll()
        let client = try RawClient(port: port)
        client.send("GET /api/modules HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        #expect(client.receiveAll().bytes.hasPrefix("HTTP/1.1 200 OK\r\n"))
    }

    @Test("does not start with a token file that is too large")
    func largeTokenFile() throws {
        let platform = try Platform()
        let file = platform.folder.appending(path: "token")
        try Data().write(to: file)
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 64 << 30)
        let key = platform.folder.appending(path: "release.key")
        try KeyFile.write(platform.key, to: key)
        let outcome = try SpawnedProcess.run(
            Self.executable.path,
            ["--releases", platform.root.path, "--key", key.path, "--token-file", file.path]
        )
        #expect(outcome.ending == .exited(64))
        #expect(String(decoding: outcome.errors, as: UTF8.self).contains("\(file.path) has more than 4096 bytes"))
    }

    @Test("does not start with a token that can be guessed")
    func weakToken() throws {
        let platform = try Platform()
        let process = try server(in: platform, token: "secret")
        #expect(process.wait() == .exited(64))
        #expect(!FileManager.default.fileExists(atPath: platform.root.path))
    }
}
