/// Reads robots.txt for one crawler (RFC 9309, section 2.2).
enum RobotsParser {
    /// The rules for an agent's product token, compared without regard to case.
    ///
    /// All groups that name the token are combined; the groups for `*` apply only if no group names it.
    static func rules(in text: some Sequence<UInt8>, agent: String) -> RobotsRules {
        var own = RobotsRules()
        var anyone = RobotsRules()
        var isOwnNamed = false
        var current: (own: Bool, anyone: Bool) = (false, false)
        var isNamingAgents = false

        for (key, value) in lines(of: text) {
            switch key {
            case "user-agent":
                if !isNamingAgents { current = (false, false) }
                isNamingAgents = true
                if value.first == UInt8(ascii: "*") {
                    current.anyone = true
                } else if productToken(of: value) == agent.lowercased() {
                    current.own = true
                    isOwnNamed = true
                }
            case "allow", "disallow":
                isNamingAgents = false
                // An empty path matches nothing; it is the old form of "allow all".
                guard !value.isEmpty else { continue }
                let rule = RobotsRules.Rule(isAllowed: key == "allow", pattern: RobotsPattern.normalized(value))
                if current.own { own.rules.append(rule) }
                if current.anyone { anyone.rules.append(rule) }
            case "crawl-delay":
                isNamingAgents = false
                guard let seconds = Double(String(decoding: value, as: UTF8.self)), seconds >= 0, seconds < 86_400
                else {
                    continue
                }
                if current.own { own.crawlDelay = .seconds(seconds) }
                if current.anyone { anyone.crawlDelay = .seconds(seconds) }
            case "sitemap":
                // A sitemap line belongs to no group, and ends none.
                own.sitemaps.append(String(decoding: value, as: UTF8.self))
            default:
                break
            }
        }
        anyone.sitemaps = own.sitemaps
        return isOwnNamed ? own : anyone
    }

    /// The pairs of key and value without comments, with keys in lower case.
    ///
    /// Lines may end with CR, LF or both.
    private static func lines(of text: some Sequence<UInt8>) -> [(key: String, value: [UInt8])] {
        var bytes = Array(text)[...]
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
        return bytes.split { $0 == 0x0A || $0 == 0x0D }.compactMap { line in
            let content = line.prefix { $0 != UInt8(ascii: "#") }
            guard let colon = content.firstIndex(of: UInt8(ascii: ":")) else { return nil }
            let key = String(decoding: trimmed(content[..<colon]), as: UTF8.self).lowercased()
            return (key, Array(trimmed(content[(colon + 1)...])))
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var bytes = bytes
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes = bytes.dropFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes = bytes.dropLast() }
        return bytes
    }

    /// The product token of a value: `examplebot` for `ExampleBot/1.0`.
    ///
    /// A token has only letters, `_` and `-`.
    private static func productToken(of value: [UInt8]) -> String {
        let token = value.prefix {
            (0x61...0x7A).contains($0 | 0x20) || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-")
        }
        return String(decoding: token, as: UTF8.self).lowercased()
    }
}
