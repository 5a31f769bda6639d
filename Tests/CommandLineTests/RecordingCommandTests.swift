import Foundation
import Testing

@Suite("waystation cache import and export")
struct RecordingCommandTests {
    private let tool: Tool

    init() throws { tool = try Tool() }

    private static let har = #"""
        {"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [
          {"request": {"method": "GET", "url": "https://shop.example/a?token=s3cret", "headers": []},
           "response": {"status": 200, "headers": [{"name": "Content-Type", "value": "text/plain"}],
                        "content": {"size": 4, "text": "page"}}},
          {"request": {"method": "POST", "url": "https://shop.example/b", "headers": []},
           "response": {"status": 200, "headers": [], "content": {"size": 0}}}]}}
        """#

    @Test("a recording is imported into a new cache, and exported without secrets")
    func roundTrip() throws {
        try tool.write(["session.har": Self.har])
        let imported = try tool.run("cache", "import", "session.har", "--in", "http")
        #expect(imported.status == 0, "\(imported.errors)")
        #expect(
            imported.output == """
                skipped https://shop.example/b (no. 2, byte 329): its method is POST
                1 response imported, 4 B, 1 skipped

                """
        )
        let shown = try tool.run("cache", "show", "https://shop.example/a?token=s3cret", "--in", "http", "--body")
        #expect(shown.output == "page")
        let exported = try tool.run("cache", "export", "--in", "http", "-o", "out.har")
        #expect(exported.status == 0, "\(exported.errors)")
        #expect(exported.output == "1 response written to DIR/out.har\n")
        let text = try String(contentsOf: tool.folder.appending(path: "out.har"), encoding: .utf8)
        #expect(!text.contains("s3cret"))
        #expect(text.contains("token=%5Bredacted%5D"))
        #expect(try tool.mode(of: "out.har") == 0o600)
        let secret = try tool.run("cache", "export", "--in", "http", "--secrets", "--format", "json", "-o", "all.har")
        #expect(try object(secret.output)["exported"] as? Int == 1)
        let again = try tool.run("cache", "import", "all.har", "--in", "again", "--format", "json")
        let entries = try #require(try object(again.output)["imported"] as? [[String: Any]])
        #expect(entries.first?["url"] as? String == "https://shop.example/a?token=s3cret")
        #expect(entries.first?.keys.sorted() == ["bytes", "status", "url"])
    }

    @Test(
        "an export has the format that its name ends in, or that --as chooses",
        arguments: [
            (["-o", "a.warc"], "WARC/1.1"), (["-o", "a.warc.gz"], "\u{1F}"), (["-o", "a.wacz"], "PK"),
            (["--as", "wacz", "-o", "a.zip"], "PK"), (["--as", "har", "-o", "a.warc"], "{"), (["-o", "a"], "{"),
        ]
    )
    func formats(options: [String], beginning: String) throws {
        try tool.write(["session.har": Self.har])
        _ = try tool.run("cache", "import", "session.har", "--in", "http")
        let exported = try tool.run(["cache", "export", "--in", "http", "--secrets"] + options)
        #expect(exported.status == 0, "\(exported.errors)")
        let name = try #require(options.last)
        let bytes = try Data(contentsOf: tool.folder.appending(path: name))
        #expect(bytes.starts(with: beginning.utf8))
        let again = try tool.run("cache", "import", name, "--in", "again")
        #expect(again.output == "1 response imported, 4 B, 0 skipped\n", "\(again.errors)")
        let refused = try tool.run("cache", "export", "--in", "http", "--as", "mhtml", "-o", "b")
        #expect(refused.status == 64)
    }

    @Test("an import into a cache that cannot be opened is an error, not a list of bodies that are too large")
    func unusableCache() throws {
        try tool.write(["session.har": Self.har])
        let imported = try tool.run("cache", "import", "session.har", "--in", "session.har/http")
        #expect(imported.status == 4)
        #expect(imported.output == "")
        #expect(imported.errors.contains("DIR/session.har/http"), "\(imported.errors)")
        #expect(imported.errors.contains("Not a directory"), "\(imported.errors)")
    }

    @Test("a WARC is recognised by its content, and a damaged recording is refused with an error code")
    func warc() throws {
        let block = "HTTP/1.1 200 OK\r\n\r\nhello"
        let record = """
            WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://shop.example/\r\n\
            Content-Length: \(block.utf8.count)\r\n\r\n\(block)\r\n\r\n
            """
        let cut = record + String(record.dropLast(9))
        try tool.write(["a.bin": record, "b.bin": cut, "c.bin": "<html>", "http/other": "x"])
        let imported = try tool.run("cache", "import", "a.bin", "--in", "cache", "--time", "now")
        #expect(imported.output == "1 response imported, 5 B, 0 skipped\n")
        for (file, code, status) in [
            ("b.bin", "truncated", 1), ("c.bin", "unknownFormat", 1), ("none", "unreadable", 4),
        ] {
            let refused = try tool.run("cache", "import", file, "--in", "cut", "--format", "json")
            #expect(refused.status == Int32(status), "\(refused.errors)")
            #expect((try object(refused.errors)["error"] as? [String: String])?["code"] == code)
        }
        let stored = try tool.run("cache", "show", "http://shop.example/", "--in", "cut", "--body")
        #expect(stored.output == "hello", "\(stored.errors)")
        let foreign = try tool.run("cache", "import", "a.bin", "--in", "http", "--format", "json")
        #expect((try object(foreign.errors)["error"] as? [String: String])?["code"] == "notAStore")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: tool.folder.appending(path: "http").path) == ["other"]
        )
    }

    @Test(
        "a recording from which nothing can be imported makes no cache",
        arguments: ["<html>", "{", "WARC/1.0\r\nWARC-Type: response\r\n", nil]
    )
    func invalidRecording(text: String?) throws {
        if let text { try tool.write(["recording": text]) }
        let refused = try tool.run("cache", "import", "recording", "--in", "new")
        #expect(refused.status != 0)
        #expect(!FileManager.default.fileExists(atPath: tool.folder.appending(path: "new").path))
        try FileManager.default.createDirectory(
            at: tool.folder.appending(path: "empty"),
            withIntermediateDirectories: false
        )
        let again = try tool.run("cache", "import", "recording", "--in", "empty")
        #expect(again.errors == refused.errors)
        #expect(try FileManager.default.contentsOfDirectory(atPath: tool.folder.appending(path: "empty").path) == [])
    }

    @Test("both commands print their help, and fail without a directory", arguments: ["import", "export"])
    func usage(command: String) throws {
        let help = try tool.run("cache", command, "--help")
        #expect(help.status == 0)
        #expect(help.output.contains("\n  waystation cache \(command) "))
        #expect(try tool.run("cache", command).status == 64)
    }
}
