#if Gateway
import Foundation

/// The attributes that a parsed page must have after the rewriting, found by search in the decoded values without the
/// scanner's code.
struct ExpectedLinks {
    let hosts: ParsedPagesTests.Hosts
    private var scheme = "https"
    private var hasBase = false

    init(hosts: ParsedPagesTests.Hosts) { self.hosts = hosts }

    mutating func element(_ element: ParsedPage.Element) -> ParsedPage.Element {
        var result = element
        let refreshes = element.name == "meta" && element.value("http-equiv")?.lowercased() == "refresh"
        if element.name == "base", !hasBase, let base = element.value("href") {
            hasBase = true
            if base.lowercased().hasPrefix("http:") { scheme = "http" }
        }
        result.attributes = element.attributes.map { attribute in
            let value: String =
                switch attribute.name {
                case _ where element.name == "meta":
                    refreshes && attribute.name == "content"
                        ? each(#"(?<==|=')\s*[^\s']+"#, attribute.value) : attribute.value
                case "href", "src", "poster", "action", "formaction", "manifest", "background", "xlink:href":
                    url(attribute.value)
                case "data" where element.name == "object": url(attribute.value)
                case "ping": each(#"\S+"#, attribute.value)
                case "srcset", "imagesrcset": each(#"(?<=^|\s|,)[^\s,][^\s]*"#, attribute.value)
                case "style": style(attribute.value)
                default: attribute.value
                }
            return ParsedPage.Attribute(name: attribute.name, value: value)
        }
        result.style = element.style.map(style)
        return result
    }

    private func style(_ text: String) -> String { each(#"(?<=url\(|url\(["']|@import ["'])[^"')]+"#, text) }

    private func each(_ pattern: String, _ text: String) -> String {
        guard let expression = try? NSRegularExpression(pattern: pattern, options: .caseInsensitive) else {
            return text
        }
        var result = text
        let whole = NSRange(text.startIndex..., in: text)
        for match in expression.matches(in: text, range: whole).reversed() {
            guard let range = Range(match.range, in: text) else { continue }
            result.replaceSubrange(range, with: url(String(text[range])))
        }
        return result
    }

    /// The value with its first bytes replaced, if it is an absolute URL of a host of the rules.
    private func url(_ text: String) -> String {
        let space = text.prefix { $0.isASCII && $0.isWhitespace }
        let rest = text.dropFirst(space.count)
        guard let match = rest.prefixMatch(of: /(?i)(https?:)?\/\/([a-z0-9._\-]+)(:[0-9]+)?(?=[\/?#\s]|$)/) else {
            return text
        }
        let scheme = match.1.map { $0.lowercased() == "http:" ? "http" : "https" } ?? scheme
        let host = match.2.lowercased()
        guard hosts.contains(host) else { return text }
        var site = host.split(separator: ".").suffix(2).joined(separator: ".")
        let front = host.dropLast(site.count)
        if let port = match.3.map({ $0.dropFirst() }), port != (scheme == "http" ? "80" : "443") { site += ".\(port)" }
        if scheme == "http" { site += ".http" }
        let label = site.replacing("-", with: "--").replacing(".", with: "-")
        return space + "http://\(front)\(label).localhost:8080" + rest[match.range.upperBound...]
    }
}

extension ParsedPage.Element {
    fileprivate func value(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
}
#endif
