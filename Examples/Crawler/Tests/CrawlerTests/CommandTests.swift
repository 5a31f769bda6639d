import ArgumentParser
import Foundation
import SiteTools
import Testing

@testable import Crawler

@Suite("Command line")
struct CommandTests {
    @Test(
        "sizes",
        arguments: [
            ("1024", 1024), ("5k", 5000), ("1.5MB", 1_500_000), ("2GiB", 2 << 30), ("1 mb", 1_000_000), ("-1", nil),
            ("x", nil), ("5parsec", nil), ("0", nil),
        ] as [(String, Int?)]
    )
    func sizes(text: String, bytes: Int?) {
        #expect(ByteLimit(argument: text)?.bytes == bytes)
    }

    @Test(
        "times",
        arguments: [
            ("90", 90), ("90s", 90), ("10m", 600), ("1.5h", 5400), ("0", nil), ("soon", nil),
        ] as [(String, Double?)]
    )
    func times(text: String, seconds: Double?) {
        #expect(TimeLimit(argument: text)?.seconds == seconds)
    }

    @Test("options are applied to the settings")
    func options() throws {
        let command = try #require(
            try CrawlerCommand.parseAsRoot([
                "crawl", "https://example.org/", "--into", "x", "--scope", "prefix", "--depth", "2", "--exclude",
                "*.zip",
                "--exclude", "*.iso", "--max-bytes", "1MB", "--rate", "0.5", "--ignore-robots",
            ]) as? CrawlCommand
        )
        var settings = CrawlSettings()
        command.scope.apply(to: &settings)
        command.politeness.apply(to: &settings)
        #expect(settings.scope == .prefix)
        #expect(settings.depth == 2)
        #expect(settings.exclude == [Glob("*.zip"), Glob("*.iso")])
        #expect(settings.maximumBytes == 1_000_000)
        #expect(settings.requestsPerSecond == 0.5)
        #expect(!settings.obeysRobots)
    }

    @Test("the engine is Foundation's, unless an option names the other one", arguments: ["crawl", "demo"])
    func engine(command: String) throws {
        let arguments = command == "crawl" ? ["crawl", "https://example.org/", "--into", "x"] : ["demo"]
        func engine(_ options: [String]) throws -> SiteSession.Engine? {
            let parsed = try CrawlerCommand.parseAsRoot(arguments + options)
            return (parsed as? CrawlCommand)?.network.engine ?? (parsed as? DemoCommand)?.network.engine
        }
        #expect(try engine([]) == .foundation)
        #expect(try engine(["--engine", "foundation"]) == .foundation)
        #if NIO
        #expect(try engine(["--engine", "nio"]) == .nio)
        #else
        #expect(throws: (any Error).self) { try engine(["--engine", "nio"]) }
        #endif
    }

    @Test("an unknown engine is refused by a message that names those there are")
    func unknownEngine() throws {
        let error = #expect(throws: (any Error).self) {
            try CrawlerCommand.parseAsRoot(["crawl", "https://example.org/", "--into", "x", "--engine", "curl"])
        }
        let message = CrawlerCommand.fullMessage(for: try #require(error))
        #expect(message.contains("The value 'curl' is invalid for '--engine <engine>'"))
        #expect(message.contains("'foundation'") && message.contains("'nio'"))
    }

    @Test(
        "senseless options are refused",
        arguments: [
            ["crawl", "example.org", "--into", "x"], ["crawl", "https://example.org/"],
            ["crawl", "https://example.org/", "--into", "x", "--rate", "0"],
            ["crawl", "https://example.org/", "--into", "x", "--scope", "galaxy"],
            ["crawl", "https://example.org/", "--into", "x", "--warc", "a.warc", "--wacz", "a.wacz"],
        ]
    )
    func refused(arguments: [String]) {
        #expect(throws: (any Error).self) { try CrawlerCommand.parseAsRoot(arguments) }
    }

    @Test("a crawl is refused, and changes nothing, while another crawl writes into its directory")
    func busy() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let lock = try CrawlLock(in: folder.url)
        // Nothing listens on this port, so that the crawl ends at once if it is not refused.
        let arguments = ["crawl", "http://127.0.0.1:9/", "--into", folder.url.path, "--quiet", "--retries", "0"]
        let command = try #require(try CrawlerCommand.parseAsRoot(arguments) as? CrawlCommand)
        let error = await #expect(throws: ExitCode.self) { try await command.run() }
        #expect(error == .inputOutput)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["crawl.lock"])
        #expect(throws: CrawlLock.Busy.self) { try CrawlLock(in: folder.url) }
        withExtendedLifetime(lock) {}
    }

    @Test("a crawl is refused, and changes nothing, if its WARC or WACZ exists or cannot be made")
    func existingArchive() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        let file = folder.url.appending(path: "site.wacz")
        try Data("mine".utf8).write(to: file)
        func run(_ option: String, _ path: String) async throws {
            let arguments = [
                "crawl", "http://127.0.0.1:9/", "--into", folder.url.appending(path: "crawl").path, option, path,
            ]
            let command = try #require(try CrawlerCommand.parseAsRoot(arguments) as? CrawlCommand)
            try await command.run()
        }
        let refused = await #expect(throws: ValidationError.self) { try await run("--wacz", file.path) }
        #expect(refused?.message.contains("exists. Name another file") ?? false)
        let missing = await #expect(throws: ExitCode.self) { try await run("--warc", folder.url.path + "/none/a.warc") }
        #expect(missing == .inputOutput)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["site.wacz"])
    }

    @Test("the lock of a crawl ends with it")
    func lockEnds() throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url, withIntermediateDirectories: true)
        for _ in 0..<2 { _ = try CrawlLock(in: folder.url) }
    }

    @Test("settings are read back from the journal")
    func settings() throws {
        var settings = CrawlSettings()
        settings.startURLs = ["https://example.org/"]
        settings.exclude = [Glob("*x*")]
        let data = try JSONEncoder().encode(settings)
        #expect(try JSONDecoder().decode(CrawlSettings.self, from: data) == settings)
        #expect(settings.productToken == "waystation-crawler")
    }
}

@Suite("Words and markup")
struct WordsTests {
    @Test("numbers are readable")
    func numbers() {
        #expect(Words.bytes(999) == "999 B")
        #expect(Words.bytes(1_400_000) == "1.4 MB")
        #expect(Words.count(1_234_567) == "1,234,567")
        #expect(Words.count(1, "page") == "1 page")
        #expect(Words.seconds(0.0123) == "12 ms")
        #expect(Words.seconds(125) == "2 min 5 s")
        #expect(Words.shortened("abcdefghij", to: 5) == "ab…ij")
    }

    @Test("texts of a site cannot inject HTML into the report")
    func escaping() {
        let hostile = "<script>&\"'"
        let markup: Markup = "<b title=\"\(hostile)\">\(hostile)</b>"
        #expect(
            markup.html == "<b title=\"&lt;script&gt;&amp;&quot;&#39;\">&lt;script&gt;&amp;&quot;&#39;</b>"
        )
    }
}
