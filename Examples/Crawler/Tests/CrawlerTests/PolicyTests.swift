import SiteTools
import Testing
import WaystationHTTP

@testable import Crawler

@Suite("Scope")
struct ScopeTests {
    private func scope(_ breadth: Scope.Breadth, _ change: (inout CrawlSettings) -> Void = { _ in }) -> Scope {
        var settings = CrawlSettings()
        settings.startURLs = ["http://www.example.org:8080/docs/start.html"]
        settings.scope = breadth
        change(&settings)
        return Scope(settings)
    }

    private func verdict(
        _ scope: Scope,
        _ url: String,
        _ kind: LinkKind = .page,
        depth: Int = 0,
        isInside: Bool = true,
        isStylesheet: Bool = false
    ) throws -> Scope.Verdict {
        let link = FoundLink(url: try #require(CanonicalURL(page: url)), kind: kind)
        return scope.verdict(on: link, from: .init(depth: depth, isInside: isInside, isStylesheet: isStylesheet))
    }

    @Test(
        "the scope decides which pages belong to the site",
        arguments: [
            (Scope.Breadth.page, "http://www.example.org:8080/docs/start.html", true),
            (.page, "http://www.example.org:8080/docs/other.html", false),
            (.prefix, "http://www.example.org:8080/docs/deep/x", true),
            (.prefix, "http://www.example.org:8080/docs", false),
            (.prefix, "http://www.example.org:8080/other/", false), (.host, "http://www.example.org:8080/other/", true),
            (.host, "http://www.example.org/other/", false), (.host, "http://www.example.org:80801/", false),
            (.host, "http://other.example.org:8080/", false), (.domain, "https://docs.example.org/", true),
            (.domain, "http://example.org/", true), (.domain, "http://notexample.org/", false),
        ]
    )
    func breadth(breadth: Scope.Breadth, url: String, isInside: Bool) throws {
        guard let url = CanonicalURL(page: url) else { return #expect(!isInside) }
        #expect(scope(breadth).contains(url) == isInside)
    }

    @Test("requisites are loaded from any host, but only for pages of the site")
    func requisites() throws {
        let site = scope(.host)
        #expect(try verdict(site, "https://cdn.example/x.css", .stylesheet) == .load)
        #expect(try verdict(site, "https://cdn.example/x.css", .page) == .outside)
        #expect(try verdict(site, "https://cdn.example/x.woff", .style, isInside: false, isStylesheet: true) == .load)
        #expect(try verdict(site, "https://cdn.example/x.png", .image, isInside: false) == .outside)
        #expect(try verdict(site, "http://www.example.org:8080/", .page, isInside: false) == .outside)
    }

    @Test("depth counts links, not requisites")
    func depth() throws {
        let site = scope(.host) { $0.depth = 1 }
        #expect(try verdict(site, "http://www.example.org:8080/a", depth: 0) == .load)
        #expect(try verdict(site, "http://www.example.org:8080/a", depth: 1) == .tooDeep)
        #expect(try verdict(site, "http://www.example.org:8080/a.png", .image, depth: 1) == .load)
    }

    @Test("exclude overrides everything but a start page; include applies to pages")
    func globs() throws {
        let site = scope(.host) {
            $0.include = [Glob("*/docs/*")]
            $0.exclude = [Glob("*secret*"), Glob("*.zip")]
        }
        #expect(try verdict(site, "http://www.example.org:8080/docs/a") == .load)
        #expect(try verdict(site, "http://www.example.org:8080/docs/secret") == .excluded)
        #expect(try verdict(site, "http://www.example.org:8080/blog") == .excluded)
        #expect(try verdict(site, "http://www.example.org:8080/a.png", .image) == .load)
        #expect(try verdict(site, "http://www.example.org:8080/a.zip", .asset) == .excluded)
    }
}

@Suite("Headers")
struct HeaderTests {
    @Test(
        "Content-Type is read as browsers read it (WHATWG MIME Sniffing)",
        arguments: [
            ("Text/HTML ; Charset=\"ISO-8859-1\"; x=y", "text/html", "ISO-8859-1"), ("text/html", "text/html", nil),
            ("text/html;charset=gbk;charset=big5", "text/html", "gbk"),
            ("text/html; charset='gbk'", "text/html", "'gbk'"),
            ("text/html; a=\"charset=big5;,\"; charset= gbk ", "text/html", "gbk"),
            ("text/html;;x;=", "text/html", nil),
            ("text/html; charset=\"g\\bk\" x", "text/html", "gbk"), ("text/html; charset=\"gbk", "text/html", "gbk"),
            ("text/html; charset=gbk, text/html", "text/html", "gbk"),
            ("text/html;charset=gbk, text/css", "text/css", nil),
            ("text/css, text/html; charset=gbk", "text/html", "gbk"), ("text/html, */*", "text/html", nil),
            ("nonsense", "", nil), ("", "", nil), (nil, "", nil),
        ] as [(String?, String, String?)]
    )
    func contentType(field: String?, mimeType: String, charset: String?) {
        let type = ContentType(field: field)
        #expect(type.mimeType == mimeType)
        #expect(type.charset == charset)
    }
}
