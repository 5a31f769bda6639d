/// A spelling of a path, and its expected outcome in the site of ``PathSafetyTests``.
struct PathSpelling: Sendable, Hashable, CustomStringConvertible {
    let path: String
    /// `found`, `redirect`, `notFound`, or the name of the refusal's reason.
    let verdict: String

    var description: String { "\(path.prefix(60)) -> \(verdict)" }

    static let all: [PathSpelling] =
        climbs + controls + refused + symbolicLinks + notFound + found + redirects

    /// Every way to write "..".
    private static let dotDots = ["..", "%2e%2e", "%2E%2E", "%2e%2E", ".%2e", "%2e.", ".%2E", "%2E."]

    private static func make(_ verdict: String, _ paths: [String]) -> [PathSpelling] {
        paths.map { PathSpelling(path: $0, verdict: verdict) }
    }

    /// Each template, with every spelling of ".." in place of "^".
    private static func make(_ verdict: String, templates: [String]) -> [PathSpelling] {
        make(verdict, templates.flatMap { template in dotDots.map { template.replacing("^", with: $0) } })
    }

    private static let climbs =
        make(
            "dotSegment",
            templates: [
                "^", "^/", "/^", "^/secret.txt", "/^/secret.txt", "^/site/page.html", "docs/^", "docs/^/",
                "docs/^/page.html", "docs/^/^/secret.txt", "docs/deep/^/^/^/secret.txt", "^/^/^/^/^/^/etc/passwd",
                "missing/^/^/secret.txt", "page.html/^/page.html", "docs/^/^",
            ]
        )
        + make("encodedSlash", templates: ["^%2fsecret.txt", "^%2Fsecret.txt", "docs/^%2f^%2fsecret.txt", "^%2f"])
        + make("backslash", templates: ["^\\secret.txt", "^%5csecret.txt", "^%5C%5Csecret.txt", "docs\\^\\secret.txt"])
        + make("nul", templates: ["^%00/secret.txt", "docs/^%00"])

    private static let controls =
        make(
            "controlCharacter",
            (Array(1..<0x20) + [0x7F]).map { code in
                let digits = String(code, radix: 16)
                return "page.html%" + (code < 16 ? "0" : "") + digits
            }
        ) + make("controlCharacter", ["page\n.html", "%C2%80", "%C2%9Fpage.html", "docs/%c2%85/page.html", "..%0d%0a"])

    private static let refused =
        make(
            "dotSegment",
            [".", "./", "./page.html", "docs/./page.html", "%2e", "%2E/page.html", "docs/.", "docs/%2e/"]
        )
        + make(
            "emptySegment",
            [
                "//", "///", "//page.html", "//etc/passwd", "docs//", "docs//page.html", "page.html//",
                "file:///etc/passwd",
            ]
        )
        + make("encodedSlash", ["%2fetc%2fpasswd", "%2Fetc/passwd", "docs%2fpage.html", "docs%2Fpage.html", "%2f"])
        + make(
            "backslash",
            ["\\", "\\etc\\passwd", "docs\\page.html", "docs%5cpage.html", "C:\\secret.txt", "%5c%5chost"]
        )
        + make("nul", ["%00", "page.html%00", "page.html%00.png", "docs%00/page.html", "docs/%00", "\0"])
        + make(
            "invalidEscape",
            [
                "%", "%2", "%zz", "%g0", "%0g", "page.html%", "page.html%2", "%%32%65", "docs/%u002e", "% 2e", "%+2",
                "%-1", "%0x2e", "%é",
            ]
        )
        + make(
            "invalidUTF8",
            [
                // Overlong dots, slashes and NULs
                "%c0%ae%c0%ae/secret.txt", "%c0%ae", "..%c0%af", "docs/%e0%80%ae%e0%80%ae/secret.txt",
                "%f0%80%80%ae%f0%80%80%ae/secret.txt", "%f0%80%80%af", "%c1%9c", "page.html%c0%80",
                // Not UTF-8 at all
                "%ff", "%fe%fe", "%80", "%bf", "%c3", "%c3/%a9", "%e2%82", "%ed%a0%80", "%ed%bf%bf", "%f4%90%80%80",
                "%f8%88%80%80%80", "p%e9ge.html",
            ]
        )
        + make("undelimited", ["page.html?", "page.html?x=1", "page.html#top", "?", "#", "docs/?page.html"])
        + make(
            "tooLong",
            [
                String(repeating: "a", count: 256), String(repeating: "%61", count: 256),
                "docs/" + String(repeating: "é", count: 128), String(repeating: "a/", count: 2500),
                String(repeating: "docs/", count: 900) + "page.html",
            ]
        )
        + make("notARegularFile", ["pipe", "%70ipe", "pipe/page.html", "docs/socket"])

    private static let symbolicLinks = make(
        "symbolicLink",
        [
            "link-out", "%6cink-out", "link-absolute", "link-up/secret.txt", "link-up", "link-up/",
            "link-up/site/page.html",
            "link-root/etc/passwd", "link-inside", "link-docs/page.html", "link-docs/", "link-docs", "link-loop",
            "link-dangling", "link-pipe", "docs/link-up-two/secret.txt", "docs/link-sibling", "linked-index/",
            "linked-index", "link-self/page.html",
        ]
    )

    private static let notFound = make(
        "notFound",
        [
            "secret.txt", "site/page.html", "etc/passwd", "/etc/passwd", "proc/self/root/etc/passwd", "dev/null",
            "empty/",
            "empty", "missing", "missing/", "missing/page.html", "page.html/", "page.html/page.html", "~",
            "~root/.profile",
            // Decoded once, not twice
            "%252e%252e/secret.txt", "%252e%252e%252fsecret.txt", "..%252fsecret.txt", "%252fetc%252fpasswd", "%2500",
            "page.html%2500", "%255c..%255csecret.txt", "%25252e%25252e/secret.txt", "docs%252fpage.html",
            // Names that only look like something else
            "..;/secret.txt", "docs/..;/..;/secret.txt", "....//secret.txt".replacing("//", with: "/"),
            ".../secret.txt",
            "..%20/secret.txt", "%20../secret.txt", "..%C2%A0/secret.txt", "\u{FF0E}\u{FF0E}/secret.txt",
            "%EF%BC%8E%EF%BC%8E/secret.txt", "%E2%80%A6/secret.txt", "%E2%80%A5/secret.txt", "..%E2%88%95secret.txt",
            "%E2%81%84etc", "%EF%BC%8Fetc", "..%EF%BC%8Fsecret.txt", "..%EF%BC%BCsecret.txt", "C:/secret.txt",
            "c%3A/secret.txt", "page.html::$DATA", "page.html%20", "page.html.", "page.html%EF%BB%BF",
            "%E2%80%8Bpage.html",
            "page.html%E2%80%AEtxt", "page.html;v=1", "page.html&", "page.html+", "a+b.html", "PAGE~1.HTM",
            // Another case, another Unicode form
            "PAGE.HTML", "Page.html", "page.HTML", "Docs/page.html", "DOCS/", ".HIDDEN", "e%CC%81.html",
            "e\u{301}.html",
            "%C3%89.html", "%E2%84%AB.txt", "A%CC%8A.txt", "stra%C3%9Fe/", "page.htm%C4%B1",
        ]
    )

    private static let found = make(
        "found",
        [
            "", "/", "page.html", "/page.html", "%70age.html", "%70%61%67%65%2e%68%74%6d%6c", "page%2Ehtml", "docs/",
            "/docs/", "d%6fcs/", "docs/page.html", "docs/deep/page.html", "docs/index.html", ".hidden", "%2ehidden",
            "..data", "%2e%2edata", "%2e.data", ".../page.html", "a%20b.html", "a b.html", "100%25.html", "%252e",
            "%C3%A9.html", "%c3%a9.html", "é.html", "%C3%85.txt", "C:", "C%3a", "a:b/", "q%3Fx%23y.html", "semi;colon",
        ]
    )

    private static let redirects = make("redirect", ["docs", "/docs", "%64ocs", "...", "a:b", "a%3Ab"])
}
