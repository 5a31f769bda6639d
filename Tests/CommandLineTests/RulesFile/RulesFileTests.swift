import Foundation
import Testing
import Waystation
import WaystationHTTP
import WaystationStorage

@testable import WaystationCLI

@Suite("A rules file")
struct RulesFileTests {
    static let whole = """
        # A kiosk.
        [gateway]
        port = 8_080
        start = "https://shop.example/app/"
        proxy = true
        inspector = true
        rewrites-links = true
        forwards-unclaimed = false
        passes-forwarded-fields = true
        maximum-body = "10MB"
        maximum-connections = 64
        request-timeout = "20s"
        idle-timeout = "1m"
        tunnel-timeout = "1h"
        delivery-timeout = "2m"

        [authority]
        directory = "authority"

        [packs]
        directory = "packs"

        [cache]
        directory = "/var/cache/kiosk"
        maximum-size = "200MB"
        maximum-age = "30d"
        maximum-entry-size = "8MiB"
        memory-size = 0
        stores-coded-bodies = true

        [header-body]
        name = "x-body"
        encoding = "base64"
        limit = "64KiB"

        [[rule]]
        url = ["https://ads.example/**", "https://track.example/**"]
        via = "block"

        [[rule]]
        url = "https://docs.example/**"
        via = ["files", "nowhere"]
        directory = 'site'
        at = "https://docs.example/manual"

        [[rule]]
        url = "https://shop.example/app/**"
        methods = ["GET", "HEAD"]
        via = ["pack", "cache"]
        overlay = { strategy = "stale-while-revalidate", maximum-age = "1h" }
        strategy = "network-first"
        timeout = "3s"

        [[rule]]
        url = "https://*.img.example/**"
        via = "cache"
        strategy = "cache-first"
        maximum-age = "7d"
        """

    @Test("has settings, of which each key sets one")
    func settings() throws {
        let file = try RulesFile(Self.whole)
        var gateway = GatewaySettings()
        gateway.port = 8080
        gateway.start = ["https://shop.example/app/"]
        gateway.isProxy = true
        gateway.hasInspector = true
        gateway.rewritesLinks = true
        gateway.forwardsUnclaimed = false
        gateway.passesForwardedFields = true
        gateway.maximumBody = .megabytes(10)
        gateway.maximumConnections = 64
        gateway.requestTimeout = .seconds(20)
        gateway.idleTimeout = .seconds(60)
        gateway.tunnelTimeout = .seconds(3_600)
        gateway.deliveryTimeout = .seconds(120)
        #expect(file.gateway == gateway)
        #expect(file.authority?.path == "authority")
        #expect(file.packs?.path == "packs")
        #expect(file.cache.directory?.path == "/var/cache/kiosk")
        #expect(file.cache.maximumSize == .megabytes(200))
        #expect(file.cache.maximumAge == .days(30))
        #expect(file.cache.maximumEntrySize == .mebibytes(8))
        #expect(file.cache.memorySize == .bytes(0))
        #expect(file.cache.storesCodedBodies == true)
        #expect(file.headerBody == HeaderBody(name: "x-body", encoding: .base64, limit: .kibibytes(64)))
    }

    @Test("has rules, whose sources are asked in their order, and whose paths are relative to the file")
    func rules() throws {
        let file = try RulesFile(Self.whole)
        let folder = URL(filePath: "/etc/kiosk/", directoryHint: .isDirectory)
        let routes = file.rules.flatMap { $0.rules(in: "kiosk.toml", relativeTo: folder) }
            .map { "\($0.definition.pattern) \($0.definition.action.route)" }
        #expect(
            routes == [
                "https://ads.example/** block",
                "https://track.example/** block",
                """
                https://docs.example/** files(in: /etc/kiosk/site, at: https://docs.example/manual, orElse: nowhere)
                """,
                """
                https://shop.example/app/** pack(overlay: staleWhileRevalidate(upTo: 3600.0 seconds), orElse: \
                cache(networkFirst(timeout: 3.0 seconds)))
                """,
                "https://*.img.example/** cache(cacheFirst(for: 604800.0 seconds))",
            ]
        )
        #expect(file.rules[2].methods == ["GET", "HEAD"])
        #expect(file.rules[3].methods == nil)
    }

    @Test(
        "names each strategy as Workbox and the RFCs do",
        arguments: [
            ("\"standard\"", CacheStrategy.standard), ("\"revalidate\"", .revalidate), ("\"cache-only\"", .cacheOnly),
            ("\"network-only\"", .networkOnly), ("\"network-first\"", .networkFirst()),
            ("\"network-first\"\ntimeout = \"2m\"", .networkFirst(timeout: .minutes(2))),
            ("\"cache-first\"\nmaximum-age = \"12h\"", .cacheFirst(for: .hours(12))),
            ("\"stale-while-revalidate\"\nmaximum-age = \"90s\"", .staleWhileRevalidate(upTo: .seconds(90))),
            ("\"revalidate\"\nvalidate-by = \"head\"", .revalidate(by: .head)),
        ]
    )
    func strategies(text: String, strategy: CacheStrategy) throws {
        let text = "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \(text)\n"
        let file = try RulesFile(text, beside: .cache)
        guard case .cache(let found, _, _) = file.rules.first?.sources?.first else {
            Issue.record("the rule has no cache")
            return
        }
        #expect(found == strategy)
    }

    @Test(
        "names the tags of what a rule stores",
        arguments: [("\"shop\"", ["shop"]), ("[\"a\", \"b c\"]", ["a", "b c"])]
    )
    func tags(text: String, tags: [String]) throws {
        let rule = "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \"standard\"\ntags = "
        let file = try RulesFile("\(rule)\(text)\n", beside: .cache)
        guard case .cache(_, _, tags) = file.rules.first?.sources?.first else {
            Issue.record("the rule has other tags")
            return
        }
        let fault = #expect(throws: (any Error).self) { try RulesFile("\(rule)\"\"\n", beside: .cache) }
        #expect("\(try #require(fault))".contains("`tags` is"))
    }

    @Test(
        "chooses the key of what a rule stores",
        arguments: [
            ("ignore-query = [\"utm_*\", \"fbclid\"]", "ignoring(\"utm_*\", \"fbclid\")"),
            ("ignore-query = \"*\"\nsort-query = true", "ignoring(\"*\").sortingQuery()"),
            ("include-body = \"POST\"", "includingBody(of: [\"POST\"])"), ("sort-query = false", "url"),
        ]
    )
    func key(text: String, key: String) throws {
        let rule = "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \"standard\"\n"
        let file = try RulesFile("\(rule)\(text)\n", beside: .cache)
        guard case .cache(_, let found, _) = file.rules.first?.sources?.first else {
            Issue.record("the rule has no cache")
            return
        }
        #expect(found.description == key)
    }

    @Test(
        "refuses a key without a meaning",
        arguments: [
            ("ignore-query = \"utm_*x\"", "`ignore-query`"), ("ignore-query = \"\"", "`ignore-query`"),
            ("sort-query = \"yes\"", "`sort-query`"), ("include-body = \"PUT\"", "`include-body`"),
        ]
    )
    func wrongKey(text: String, name: String) throws {
        let rule = "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \"standard\"\n"
        let fault = #expect(throws: (any Error).self) { try RulesFile("\(rule)\(text)\n", beside: .cache) }
        #expect("\(try #require(fault))".contains(name))
    }

    @Test(
        "compares digests if a rule asks for it",
        arguments: [("check-digests = true", "standard.checkingDigests()"), ("check-digests = false", "standard")]
    )
    func digests(text: String, strategy: String) throws {
        let rule = "[[rule]]\nurl = \"https://a.example/**\"\nvia = \"cache\"\nstrategy = \"standard\"\n"
        let file = try RulesFile("\(rule)\(text)\n", beside: .cache)
        guard case .cache(let found, _, _) = file.rules.first?.sources?.first else {
            Issue.record("the rule has no cache")
            return
        }
        #expect(found.description == strategy)
        let without = rule.replacing("standard", with: "network-only")
        let fault = #expect(throws: (any Error).self) {
            try RulesFile("\(without)check-digests = true\n", beside: .cache)
        }
        #expect("\(try #require(fault))".contains("`check-digests` has no effect with"))
    }

    @Test("has the pages that it names, or those of its rules up to the first star")
    func startPages() throws {
        var file = try RulesFile(Self.whole)
        #expect(file.startPages == ["https://shop.example/app/"])
        file.gateway.start = []
        #expect(file.startPages == ["https://docs.example/manual/", "https://shop.example/app/"])
        let patterns = [
            ("https://a.example/", "https://a.example/"), ("https://a.example/b/c*.html", "https://a.example/b/"),
            ("https://a.example:8443/**", "https://a.example:8443/"), ("*://a.example/**", nil),
            ("https://a.example:*/**", nil), ("https://a.example/search?q=*", "https://a.example/search"),
            ("app://a/**", nil),
        ]
        for (pattern, page) in patterns {
            let file = try RulesFile("[[rule]]\nurl = \"\(pattern)\"\nvia = \"network\"\n")
            #expect(file.startPages == [page].compactMap(\.self), "\(pattern)")
        }
    }

    @Test("gives each rule its line, so that warnings name it")
    func lines() throws {
        let text =
            "\n[[rule]]\nurl = \"https://a.example/**\"\nvia = \"network\"\n[[rule]]\nurl = \"https://a.example/b\"\nvia = \"block\"\n"
        let file = try RulesFile(text)
        let interceptor = try Interceptor {
            $0.rules = file.rules.flatMap { $0.rules(in: "kiosk.toml", relativeTo: URL(filePath: "/")) }
        }
        #expect(interceptor.warnings.map { $0.location?.description } == ["kiosk.toml:5"])
    }

    @Test(
        "is right where the documents show one",
        arguments: ["Docs/CommandLine.md", "Sources/Waystation/Waystation.docc/Gateway.md"]
    )
    func documents(name: String) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
        let text = try String(contentsOf: root.appending(path: name), encoding: .utf8)
        let examples = text.matches(of: /(?ms)^```toml\n(.*?)^```/).map { String($0.output.1) }
        #expect(!examples.isEmpty)
        for example in examples { #expect(mistakes(in: example) == []) }
    }

    @Test("may begin with a byte order mark and end its lines as Windows does")
    func windows() throws {
        let text = "\u{FEFF}" + Self.whole.replacing("\n", with: "\r\n")
        #expect(try RulesFile(text).rules.count == 4)
        #expect(mistakes(in: text.replacing("port = 8_080", with: "port = 0x1F90x")).map { $0.prefix(4) } == ["3:8 "])
    }
}
