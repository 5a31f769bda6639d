public import Foundation
public import WaystationHTTP

/// The rules of a site's robots.txt for one crawler (RFC 9309).
public struct RobotsRules: Sendable, Equatable {
    struct Rule: Sendable, Equatable {
        let isAllowed: Bool
        /// The pattern, normalised like the paths; `*` and a final `$` are special.
        let pattern: [UInt8]
    }

    var rules: [Rule] = []
    /// `Crawl-delay`, which is not in the RFC but widely used.
    public internal(set) var crawlDelay: Duration?
    /// Absolute or relative URLs of sitemaps, which apply to every crawler.
    public internal(set) var sitemaps: [String] = []

    /// The rules of a site that has none.
    public static let allowAll = RobotsRules()
    /// The rules of a site that must not be crawled at all.
    public static let disallowAll = RobotsRules(rules: [Rule(isAllowed: false, pattern: Array("/".utf8))])

    /// Whether the rules allow a URL: the longest matching pattern decides; of two equally long ones, the one that
    /// allows wins (section 2.2.2).
    public func allows(_ url: CanonicalURL) -> Bool {
        if rules.isEmpty || url.path == "/robots.txt" { return true }
        let path = RobotsPattern.subject(url.pathAndQuery)
        var verdict = true
        var longest = -1
        for rule in rules where rule.pattern.count >= longest {
            guard RobotsPattern.matches(rule.pattern, path) else { continue }
            if rule.pattern.count > longest {
                verdict = rule.isAllowed
                longest = rule.pattern.count
            } else if rule.isAllowed {
                verdict = true
            }
        }
        return verdict
    }
}

extension RobotsRules {
    /// The number of bytes that are read (section 2.5 asks for at least 500 KiB).
    public static let sizeLimit = 500 * 1024

    /// The rules that follow from the answer for robots.txt (section 2.3.1).
    ///
    /// The body of a 2xx is parsed. A 4xx means that the site has no rules. After any other status the site must not be
    /// crawled for now.
    ///
    /// - `body`: In UTF-8, as the RFC says and as ``text(_:charset:)`` returns it.
    /// - `agent`: The crawler's product token, such as `examplebot`; compared without regard to case.
    public init(status: Int, body: [UInt8], agent: String) {
        switch status {
        case 200..<300: self = RobotsParser.rules(in: body.prefix(Self.sizeLimit), agent: agent)
        case 400..<500: self = .allowAll
        default: self = .disallowAll
        }
    }
    /// The first ``sizeLimit`` bytes of a robots.txt in UTF-8.
    ///
    /// A byte order mark or the response's charset may name another encoding. Without either, the bytes are not changed.
    ///
    /// - `charset`: The charset of `Content-Type`, in any spelling that browsers know.
    public static func text(_ body: Data, charset: String?) -> Data {
        let start = body.prefix(sizeLimit)
        let text = PageText(start, charset: charset, form: .plain)
        return text.encoding == .utf8 ? start : text.utf8
    }
}
