import Foundation
import HTTPTypes
import Testing
import WaystationHTTP
import WaystationStorage

@Suite("waystation cache")
struct CacheCommandTests {
    private let tool: Tool
    private static let commands = ["list", "show", "explain", "verify", "trim", "purge"]
    private static let large = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })

    init() throws { tool = try Tool() }

    private var directory: URL { tool.folder.appending(path: "http") }

    /// A store with six responses, of two hosts and two partitions.
    private func fill() async throws {
        let store = ResponseStore(directory: directory)
        let secret: HTTPFields = [.contentType: "text/html", .setCookie: "token=s3cret", .eTag: "\"1\""]
        let vary = VaryKey([.init(name: .acceptLanguage, value: "de"), .init(name: .cookie, value: "id=s3cret")])
        let all: [(String, String, VaryKey, Data, TimeInterval)] = [
            ("https://shop.example/app/", "", .none, Data("<p>1".utf8), -5),
            ("https://shop.example/app/a", "", vary, Data("a".utf8), -90),
            ("https://shop.example/app/a", "anna", .none, Data("anna's".utf8), -90),
            ("https://shop.example/film", "", .none, Self.large, -7_200),
            ("https://img.example/film", "", .none, Self.large, -864_000),
            ("https://img.example/logo", "", .none, Data("logo".utf8), -10),
        ]
        for (url, partition, vary, body, age) in all {
            let time = Date(timeIntervalSinceNow: age)
            let entry = StoredHead(
                key: RequestKey(method: "GET", url: url, partition: partition),
                status: 200,
                headerFields: secret,
                vary: vary,
                requestTime: time,
                responseTime: time
            )
            let writer = try #require(store.begin(entry))
            writer.append(body)
            try await writer.commit()
        }
        await store.flush()
    }

    private func run(_ arguments: String...) throws -> Tool.Outcome { try tool.run(["cache"] + arguments) }

    private func urls(_ arguments: String...) throws -> [String] {
        let outcome = try tool.run(["cache", "list", "--in", "http", "--format", "json"] + arguments)
        let entries = try #require(try object(outcome.output)["entries"] as? [[String: Any]])
        return entries.compactMap { $0["url"] as? String }
    }

    @Test("every command prints its help, and fails without a directory", arguments: commands)
    func usage(command: String) throws {
        let help = try run(command, "--help")
        #expect(help.status == 0)
        #expect(help.output.contains("\n  waystation cache \(command) "))
        #expect(help.output.contains("--in <dir>"))
        #expect(help.output.contains("--format <format>"))
        let missing = try run(command, "--format=json")
        #expect(missing.status == 64)
        #expect(missing.output == "")
        #expect((try object(missing.errors)["error"] as? [String: String])?["code"] == "usage")
    }

    @Test(
        "missing or contradictory arguments are wrong usage",
        arguments: [
            ["purge"], ["purge", "--all", "--host", "a.example"], ["trim"], ["trim", "--maximum-size", "lots"],
            ["trim", "--maximum-age", "30"], ["list", "--host", "a.example", "--prefix", "https://"],
            ["show", "https://a.example/", "--body", "--format", "json"],
            ["purge", "--url", "a.example"], ["list", "--url", "/app/"],
            ["explain", "a.example"], ["explain", "https://a.example/", "--strategy", "lots"],
            ["explain", "https://a.example/", "--strategy", "cache-first"],
            ["explain", "https://a.example/", "--maximum-age", "7d"],
            ["list", "--host", "shop.example:8443"], ["purge", "--host", "https://shop.example/"],
            ["purge", "--host", "shop.example:80"], ["purge", "--host", "shop.example:"],
            ["purge", "--host", "[::1]:80"],
        ]
    )
    func impossible(arguments: [String]) async throws {
        try await fill()
        let outcome = try tool.run(["cache"] + arguments + ["--in", "http"])
        #expect(outcome.status == 64)
        if !arguments.contains("json") {
            #expect(outcome.errors.contains("\nUsage: waystation cache \(arguments[0]) "), "\(outcome.errors)")
        }
        #expect(try urls().count == 6)
    }

    @Test(
        "--host takes a name in any spelling, and addresses",
        arguments: ["IMG.example", "::1", "[::1]", "127.0.0.1"]
    )
    func hosts(host: String) async throws {
        try await fill()
        let listed = try run("list", "--in", "http", "--host", host)
        #expect(listed.status == 0, "\(listed.errors)")
        #expect(listed.output.hasPrefix("GET") == (host == "IMG.example"))
    }

    @Test("list says whether nothing is stored, or nothing fits what was asked for")
    func nothingListed() async throws {
        try await fill()
        #expect(try run("list", "--in", "http", "--host", "other.example").output == "no stored response fits\n")
        _ = try run("purge", "--in", "http", "--all")
        #expect(try run("list", "--in", "http").output == "no responses are stored\n")
    }

    @Test("a directory without a store is refused and not changed", arguments: commands)
    func noStore(command: String) throws {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let rest =
            switch command {
            case "show", "explain": ["https://a.example/"]
            case "trim": ["--maximum-size", "0"]
            case "purge": ["--all"]
            default: [String]()
            }
        for (name, files) in [("http", [String: String]()), ("nowhere", [:]), ("text", ["text/index.sqlite": "x"])] {
            try tool.write(files)
            let before = FileManager.default.subpaths(atPath: tool.folder.path)?.sorted()
            let outcome = try tool.run(["cache", command, "--in", name, "--format", "json"] + rest)
            #expect(outcome.status == 1, "\(name): \(outcome.errors)")
            #expect(outcome.output == "")
            #expect((try object(outcome.errors)["error"] as? [String: String])?["code"] == "notAStore", "\(name)")
            #expect(FileManager.default.subpaths(atPath: tool.folder.path)?.sorted() == before)
        }
    }

    @Test("list prints a line for each response, and hides secrets")
    func list() async throws {
        try await fill()
        let outcome = try run("list", "--in", "http")
        #expect(outcome.status == 0)
        let lines = outcome.output.split(separator: "\n").map(String.init)
        #expect(lines.count == 6)
        #expect(lines[0].hasPrefix("GET  200  10 d   200 kB  https://img.example/film"))
        #expect(lines[3].hasSuffix("https://shop.example/app/a {accept-language: de; cookie: (hidden)}"))
        #expect(lines[4].hasSuffix("https://shop.example/app/a [anna]"))
        #expect(!outcome.output.contains("s3cret"))
        #expect(try run("list", "--in", "http", "--secrets").output.contains("cookie: id=s3cret"))
        let json = try object(run("list", "--in", "http", "--format", "json").output)
        let entries = try #require(json["entries"] as? [[String: Any]])
        #expect(
            entries[0].keys.sorted() == [
                "age", "bodyFile", "bodyLength", "groups", "id", "method", "partition", "requestTime", "responseTime",
                "size", "status", "tags", "url", "variant",
            ]
        )
        #expect(entries[0]["bodyFile"] as? String == entries[5]["bodyFile"] as? String)
    }

    @Test("explain shows the arithmetic of the strategy, for the variant and the partition of the request")
    func explain() async throws {
        try await fill()
        let film = ["explain", "https://img.example/film", "--in", "http"]
        let within = try tool.run(["cache"] + film + ["--strategy", "cache-first", "--maximum-age", "30d"])
        #expect(within.status == 0, "\(within.errors)")
        #expect(within.output.hasPrefix("GET https://img.example/film\n  The stored response has the status 200.\n"))
        #expect(within.output.contains("\n  The response's age is 10 d"))
        let rest = "until it arrived 30 d ago, whatever its fields say: for "
        // The tool runs up to some seconds after the response was stored.
        #expect(["20 d more", "19 d 23 h 59 min"].contains { within.output.contains(rest + $0) })
        #expect(within.output.hasSuffix("\n  The cache answers with the status 200, without the network.\n"))
        let standard = try tool.run(["cache"] + film)
        #expect(standard.output.contains("is stale: the origin is asked with If-None-Match: \"1\"."))

        let page = ["cache", "explain", "https://shop.example/app/a", "--in", "http", "--format", "json"]
        func explained(_ arguments: String...) throws -> [String: Any] {
            try #require(try object(tool.run(page + arguments).output)["cache"] as? [String: Any])
        }
        let other = try explained()
        #expect(other["response"] == nil, "the variant is for another language")
        let own = try explained("--field", "Accept-Language: de", "--field", "Cookie: id=s3cret")
        let age = try #require((own["response"] as? [String: Any])?["age"] as? Int)
        #expect((90..<1_000).contains(age))
        #expect(try explained("--partition", "anna")["response"] != nil)
        #expect(try explained("--partition", "anna")["outcome"] as? String == "fetched")
    }

    @Test("list filters by host, prefix, URL and partition")
    func filters() async throws {
        try await fill()
        #expect(try urls("--host", "img.example").count == 2)
        #expect(try urls("--prefix", "https://shop.example/app/").count == 3)
        #expect(try urls("--url", "https://shop.example/app/a").count == 2)
        #expect(try urls("--url", "https://shop.example/app/a", "--partition", "anna").count == 1)
        #expect(try urls("--partition", "").count == 5)
        #expect(try urls("--host", "other.example").isEmpty)
    }

    @Test("tags and groups are listed, and purged hard or softly")
    func labels() async throws {
        let store = ResponseStore(directory: directory)
        for name in ["a", "b"] {
            var fields: HTTPFields = [.cacheControl: "max-age=86400", .eTag: "\"1\""]
            if name == "a", let groups = HTTPField.Name("Cache-Groups") { fields[groups] = "\"prices\"" }
            let head = StoredHead(
                key: RequestKey(method: "GET", url: "https://shop.example/\(name)"),
                status: 200,
                headerFields: fields,
                requestTime: Date(),
                responseTime: Date()
            )
            try await store.begin(head.tagged(["shop"]))?.commit()
        }
        await store.flush()
        let group = ["--group", "prices", "--origin", "https://SHOP.example/x"]
        #expect(try urls("--tag", "shop").count == 2)
        #expect(try tool.run(["cache", "list", "--in", "http"] + group).output.hasSuffix("/a #shop @\"prices\"\n"))
        #expect(try urls("--group", "prices", "--origin", "https://other.example").isEmpty)
        #expect(try run("list", "--in", "http", "--group", "prices").status == 64)
        #expect(try run("purge", "--in", "http", "--all", "--soft").status == 64)

        let soft = try tool.run(["cache", "purge", "--in", "http", "--soft"] + group)
        #expect(soft.output.hasPrefix("1 response stale, 0 responses removed, 2 responses left"), "\(soft.errors)")
        let explained = try run("explain", "https://shop.example/a", "--in", "http").output
        #expect(explained.contains("The response's tag is \"shop\".\n  The response's group is \"prices\"."))
        #expect(explained.contains("purged softly"))
        let hard = try run("purge", "--in", "http", "--tag", "shop")
        #expect(hard.output.hasPrefix("2 responses removed, 0 responses left"), "\(hard.errors)")
        #expect(try urls().isEmpty)
    }

    @Test("a part is shown with its bytes, and a key that is more than a URL with what it answers; explain names both")
    func partsAndKeys() async throws {
        let store = ResponseStore(directory: directory)
        for (url, range) in [("film", "bytes 0-3/5000"), ("film", "bytes 100-103/5000"), ("a#key=acme", "")] {
            var fields: HTTPFields = [.cacheControl: "max-age=86400", .eTag: "\"1\""]
            if !range.isEmpty { fields[.contentRange] = range }
            let nominee = VaryKey.Nominee(name: .range, value: range.replacing("bytes ", with: "bytes="))
            let head = StoredHead(
                key: RequestKey(method: "GET", url: "https://shop.example/\(url)"),
                status: range.isEmpty ? 200 : 206,
                headerFields: fields,
                vary: range.isEmpty ? .none : VaryKey([nominee]),
                requestTime: Date(),
                responseTime: Date()
            )
            let writer = try #require(store.begin(head))
            writer.append(Data("abcd".utf8))
            try await writer.commit()
        }
        await store.flush()
        let lines = try run("list", "--in", "http").output.split(separator: "\n")
        #expect(lines.contains { $0.hasSuffix("https://shop.example/film (bytes 0-3 of 5000)") }, "\(lines)")
        #expect(lines.contains { $0.hasSuffix("https://shop.example/a#key=acme") })
        let entries = try object(run("list", "--in", "http", "--format", "json").output)["entries"] as? [[String: Any]]
        #expect(entries?.compactMap { $0["part"] as? String }.sorted().first == "bytes 0-3 of 5000")
        let shown = try run("show", "https://shop.example/a", "--in", "http").output
        #expect(shown.contains("\n  answers: https://shop.example/a, with a text that the rule adds\n"), "\(shown)")
        let explained = try run("explain", "https://shop.example/film", "--in", "http").output
        let held = "2 responses are stored for the URL: of the 5000 bytes of the whole, the bytes 0-3 and 100-103"
        #expect(explained.contains(held), "\(explained)")
        #expect(explained.contains("the origin is asked for the bytes 4-99 and 104-4999 alone."), "\(explained)")
    }

    @Test("explain and list know responses that answer other queries, and list no row that only states their rule")
    func otherQueries() async throws {
        let store = ResponseStore(directory: directory)
        let name = try #require(HTTPField.Name("No-Vary-Search"))
        for fragment in ["#search", "#search=params=(a)?b=1"] {
            let head = StoredHead(
                key: RequestKey(method: "GET", url: "https://shop.example/a" + fragment),
                status: 200,
                headerFields: [.cacheControl: "max-age=86400", name: "params=(\"a\")"],
                requestTime: Date(),
                responseTime: Date()
            )
            try await store.begin(head)?.commit()
        }
        await store.flush()
        #expect(try urls() == ["https://shop.example/a#search=params=(a)?b=1"])
        func explained(_ query: String) throws -> String {
            try run("explain", "https://shop.example/a\(query)", "--in", "http").output
        }
        #expect(try explained("?a=2&b=1").contains("by its No-Vary-Search"))
        #expect(try explained("?b=2").contains("No response is stored"))
        let ignoring = ["?b=2&x_1=3&b=1", "--ignore-query", "x_*", "--ignore-query", "b", "--sort-query"]
        let key = try tool.run(
            ["cache", "explain", "https://shop.example/a\(ignoring[0])", "--in", "http"] + ignoring.dropFirst()
        )
        #expect(key.output.contains("its URL, without \"b\", \"x_1\" of its query, with its query sorted"))
        #expect(key.output.contains("No response is stored"))
    }

    @Test("show prints the fields or the body, and fails when nothing is stored")
    func show() async throws {
        try await fill()
        let page = try run("show", "https://shop.example/app/", "--in", "http")
        #expect(page.status == 0)
        #expect(page.output.contains("\n  body: 4 B, in the index\n  Content-Type: text/html\n"))
        #expect(page.output.contains("\n  Set-Cookie: (hidden)\n"))
        #expect(!page.output.contains("s3cret"))
        let open = try run("show", "https://shop.example/app/", "--in", "http", "--secrets")
        #expect(open.output.contains("\n  Set-Cookie: token=s3cret\n"))
        #expect(try run("show", "https://shop.example/app/", "--in", "http", "--body").output == "<p>1")
        let anna = try run("show", "https://shop.example/app/a", "--in", "http", "--partition", "anna", "--body")
        #expect(anna.output == "anna's")
        let json = try object(run("show", "https://img.example/film", "--in", "http", "--format", "json").output)
        let found = try #require((json["responses"] as? [[String: Any]])?.first)
        #expect((found["fields"] as? [[String]])?.contains(["Set-Cookie", "(hidden)"]) == true)
        let missing = try run("show", "https://shop.example/none", "--in", "http")
        #expect(missing.status == 1)
        #expect(missing.output == "")
        #expect(missing.errors.hasPrefix("Error: https://shop.example/none is not stored"))
    }

    @Test("verify lists damaged responses with exit code 1, and --repair removes them")
    func verify() async throws {
        try await fill()
        let whole = try run("verify", "--in", "http")
        #expect(whole.status == 0)
        #expect(whole.output == "6 responses and 1 body files checked, 0 damaged\n")
        let bodies = directory.appending(path: "bodies")
        let name = try #require(FileManager.default.subpaths(atPath: bodies.path)?.max { $0.count < $1.count })
        var bytes = Self.large
        bytes[123_456] ^= 1
        try bytes.write(to: bodies.appending(path: name))
        let damaged = try run("verify", "--in", "http")
        #expect(damaged.status == 1)
        #expect(damaged.output.contains("GET https://shop.example/film: the body file has changed bytes\n"))
        #expect(damaged.output.hasSuffix("6 responses and 1 body files checked, 2 damaged\n"))
        #expect(try urls().count == 6)
        let json = try run("verify", "--in", "http", "--repair", "--format", "json")
        #expect(json.status == 0)
        let found = try object(json.output)
        #expect(
            found.keys.sorted() == ["bodyFiles", "damaged", "dropped", "entries", "indexProblems", "unnamedFiles"]
        )
        #expect(found["dropped"] as? Int == 2)
        #expect(try urls().count == 4)
        #expect(try run("verify", "--in", "http").output == "4 responses and 0 body files checked, 0 damaged\n")
    }

    @Test("trim removes responses above the maximum age, then the least recently used ones")
    func trim() async throws {
        try await fill()
        let age = try run("trim", "--in", "http", "--maximum-age", "1d")
        #expect(age.status == 0)
        #expect(age.output.hasPrefix("1 response removed, 5 responses left, "))
        let size = try object(
            run("trim", "--in", "http", "--maximum-size", "10kB", "--format", "json").output
        )
        #expect(size.keys.sorted() == ["bytes", "entries", "removed"])
        #expect(try #require(size["bytes"] as? Int) <= 10_000)
        #expect(try urls().contains("https://img.example/logo"))
        #expect(
            FileManager.default.subpaths(atPath: directory.appending(path: "bodies").path)?.contains { $0.count > 2 }
                == false
        )
    }

    @Test("purge removes the selected responses only")
    func purge() async throws {
        try await fill()
        let prefix = try run("purge", "--in", "http", "--prefix", "https://shop.example/app/a")
        #expect(prefix.output.hasPrefix("2 responses removed, 4 responses left, "))
        #expect(
            try object(run("purge", "--in", "http", "--host", "img.example", "--format=json").output)["removed"] as? Int
                == 2
        )
        #expect(try urls() == ["https://shop.example/app/", "https://shop.example/film"])
        #expect(try run("purge", "--in", "http", "--all").output == "2 responses removed, 0 responses left, 0 B\n")
        #expect(try urls().isEmpty)
    }

    @Test(
        "--url takes another spelling of a URL",
        arguments: [
            "HTTPS://SHOP.example:443/film", "https://shop.example/film#top", "https://shop.example/app/../film",
        ]
    )
    func spelling(url: String) async throws {
        try await fill()
        #expect(try urls("--url", url) == ["https://shop.example/film"])
        let purged = try run("purge", "--in", "http", "--url", url)
        #expect(purged.output.hasPrefix("1 response removed, 5 responses left, "))
        #expect(try urls().contains("https://shop.example/film") == false)
    }

    @Test(
        "a full disk is an error with exit code 4",
        arguments: [
            ["show", "https://shop.example/film", "--body"], ["show", "https://shop.example/app/", "--body"],
            ["show", "https://shop.example/app/"], ["list"], ["export", "-o", "-"],
        ]
    )
    func fullDisk(arguments: [String]) async throws {
        try await fill()
        let outcome = try tool.runOnFullDisk(["cache"] + arguments + ["--in", "http"])
        #expect(outcome.status == 4)
        #expect(
            outcome.errors
                == "Error: standard output cannot be written (write standard output: No space left on device)\n"
        )
    }
}
