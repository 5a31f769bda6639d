/// What a site's robots.txt allows one crawler (RFC 9309).
struct RobotsRules: Sendable, Equatable {
    struct Rule: Sendable, Equatable {
        let isAllowed: Bool
        /// Normalised like the paths it is compared with; `*` and a final `$` are special.
        let pattern: [UInt8]
    }

    var rules: [Rule] = []
    /// `Crawl-delay`, no part of the RFC but widely used.
    var crawlDelay: Duration?
    /// Absolute or relative URLs of sitemaps, which concern every crawler.
    var sitemaps: [String] = []

    static let allowAll = RobotsRules()
    static let disallowAll = RobotsRules(rules: [Rule(isAllowed: false, pattern: Array("/".utf8))])

    /// The longest matching pattern decides; of two as long as each other the one that allows (section 2.2.2).
    func allows(_ url: CanonicalURL) -> Bool {
        if url.path == "/robots.txt" { return true }
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
    /// More than this is not read (section 2.5 asks for at least 500 KiB).
    static let sizeLimit = 500 * 1024

    /// What follows from how robots.txt answered (section 2.3.1): 2xx is read, 4xx means there are no rules, everything
    /// else that the whole site is out of bounds for now.
    init(status: Int, body: [UInt8], agent: String) {
        switch status {
        case 200..<300: self = RobotsParser.rules(in: body.prefix(Self.sizeLimit), agent: agent)
        case 400..<500: self = .allowAll
        default: self = .disallowAll
        }
    }
}
