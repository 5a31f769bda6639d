import Testing
import WaystationHTTP

@testable import SiteTools

@Suite("robots.txt (RFC 9309)")
struct RobotsRulesTests {
    private func allows(_ robots: String, _ path: String, agent: String = "waystation-crawler") throws -> Bool {
        let url = try #require(CanonicalURL(page: "https://example.org" + path))
        return RobotsParser.rules(in: robots.utf8, agent: agent).allows(url)
    }

    /// The example of section 5.1.
    static let simpleExample = """
        User-Agent: *
        Disallow: *.gif$
        Disallow: /example/
        Allow: /publications/

        User-Agent: foobot
        Disallow:/
        Allow:/example/page.html
        Allow:/example/allowed.gif

        User-Agent: barbot
        User-Agent: bazbot
        Disallow: /example/page.html

        User-Agent: quxbot
        """

    @Test(
        "the RFC's simple example is followed",
        arguments: [
            ("anybot", "/publications/x", true), ("anybot", "/example/x", false), ("anybot", "/a.gif", false),
            ("anybot", "/a.gif?x", true), ("foobot", "/", false), ("foobot", "/example/page.html", true),
            ("foobot", "/example/allowed.gif", true), ("foobot", "/publications/", false),
            ("barbot", "/example/page.html", false), ("bazbot", "/example/page.html", false),
            ("barbot", "/a.gif", true),
            ("quxbot", "/example/page.html", true),
        ]
    )
    func simpleExample(agent: String, path: String, isAllowed: Bool) throws {
        #expect(try allows(Self.simpleExample, path, agent: agent) == isAllowed)
    }

    @Test(
        "the longest match decides, and allow wins a tie",
        arguments: [
            // Section 5.2.
            ("Allow: /example/page/\nDisallow: /example/page/disallowed.gif", "/example/page/disallowed.gif", false),
            ("Allow: /example/page/\nDisallow: /example/page/disallowed.gif", "/example/page/other.gif", true),
            ("Disallow: /folder\nAllow: /folder", "/folder/page", true),
            ("Allow: /folder\nDisallow: /folder", "/folder/page", true),
            ("Allow: /p\nDisallow: /", "/page", true),
            ("Allow: /page\nDisallow: /*.htm", "/page.htm", false),
            ("Allow: /$\nDisallow: /", "/", true),
            ("Allow: /$\nDisallow: /", "/page.htm", false),
        ]
    )
    func longestMatch(rules: String, path: String, isAllowed: Bool) throws {
        #expect(try allows("User-agent: *\n" + rules, path) == isAllowed)
    }

    @Test(
        "patterns",
        arguments: [
            ("/fish", "/fish.html", true), ("/fish", "/Fish", false), ("/fish", "/catfish", false),
            ("/fish*", "/fishheads/yummy.html", true), ("/fish/", "/fish", false), ("/fish/", "/fish/?id=1", true),
            ("/*.php", "/folder/any.php.file.html", true), ("/*.php$", "/filename.php?parameters", false),
            ("/*.php$", "/folder/filename.php", true), ("/fish*.php", "/fishheads/catfish.php?a", true),
            // Percent-encoding is compared in one form (section 2.2.2), and encoded special characters are literal.
            ("/foo/bar/ツ", "/foo/bar/%E3%83%84", true), ("/foo/bar/%E3%83%84", "/foo/bar/%E3%83%84", true),
            ("/foo/bar/%62%61%7A", "/foo/bar/baz", true), ("/a%2fb", "/a%2Fb", true),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-*.html", true),
            ("/path/file-with-a-%2A.html", "/path/file-with-a-b.html", false),
            ("/path/foo-%24", "/path/foo-$", true), ("*/print", "/a/b/print", true), ("/a?b", "/a?b", true),
        ]
    )
    func patterns(pattern: String, path: String, matches: Bool) throws {
        #expect(try allows("User-agent: *\nDisallow: \(pattern)", path) != matches)
    }

    @Test("a pattern with many stars costs at most its length times the path's")
    func hostilePattern() throws {
        let pattern = "/" + String(repeating: "*a", count: 200) + "b"
        #expect(try allows("User-agent: *\nDisallow: \(pattern)", "/" + String(repeating: "a", count: 2000)))
    }

    @Test("agents are compared without case, groups of one agent are combined, `*` is for the others")
    func agents() throws {
        let robots = """
            user-agent: WAYSTATION-Crawler/2.0
            disallow: /a
            sitemap: /map.xml

            User-agent: *
            Disallow: /
            Crawl-delay: 9

            User-agent: waystation-crawler
            Disallow: /b
            Crawl-delay: 1.5
            """
        #expect(try !allows(robots, "/a"))
        #expect(try !allows(robots, "/b"))
        #expect(try allows(robots, "/c"))
        #expect(try !allows(robots, "/c", agent: "other"))
        let rules = RobotsParser.rules(in: robots.utf8, agent: "waystation-crawler")
        #expect(rules.crawlDelay == .seconds(1.5))
        #expect(rules.sitemaps == ["/map.xml"])
    }

    @Test("comments, a byte order mark, any line end and unknown lines are accepted")
    func lexing() throws {
        let robots = "\u{FEFF}# hello\r\nUser-Agent : * # all\rUnknown: x\nDisallow : /a # not this\n\nDisallow: /b"
        #expect(try !allows(robots, "/a"))
        #expect(try !allows(robots, "/b"))
        #expect(try allows(robots, "/c"))
    }

    @Test("no rules, an empty rule and robots.txt itself allow", arguments: ["", "User-agent: *\nDisallow:"])
    func permissive(robots: String) throws {
        #expect(try allows(robots, "/anything"))
        #expect(try allows("User-agent: *\nDisallow: /", "/robots.txt"))
    }

    @Test(
        "the status decides the meaning of a missing robots.txt",
        arguments: [
            (200, false), (404, true), (403, true), (410, true), (500, false), (503, false),
        ]
    )
    func status(status: Int, isAllowed: Bool) throws {
        let rules = RobotsRules(status: status, body: Array("User-agent: *\nDisallow: /".utf8), agent: "x")
        #expect(rules.allows(try #require(CanonicalURL(page: "https://example.org/page"))) == isAllowed)
    }

    @Test("bytes beyond 500 KiB are not read")
    func sizeLimit() throws {
        let padding = String(repeating: "# padding\n", count: 60_000)
        let text = "User-agent: *\nDisallow: /a\n" + padding + "Disallow: /b\n"
        let rules = RobotsRules(status: 200, body: Array(text.utf8), agent: "x")
        #expect(rules.rules.count == 1)
    }
}
