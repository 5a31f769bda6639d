package import HTTPTypes

/// The parts of a query on which a response does not depend, as its field `No-Vary-Search` says
/// (draft-ietf-httpbis-no-vary-search).
///
/// A response with this field may answer the requests for all URLs that are the same but for these parts (§6 of the
/// draft, “Comparing”).
package struct NoVarySearch: Hashable, Sendable {
    /// The items that are compared, by their names in one spelling.
    private enum Compared: Hashable, Sendable {
        case all(except: Set<String>)
        case only(Set<String>)
    }

    private let compared: Compared
    private let ignoresOrder: Bool

    /// The field's name in lower case.
    package static let field = "no-vary-search"

    /// Reads the field of a response.
    ///
    /// It is nil if there is no such field, if the field is malformed or has a value of the wrong kind, and if it says that
    /// the whole query counts.
    package init?(_ fields: HTTPFields) {
        let lines = fields.lines(of: Self.field)
        guard !lines.isEmpty, let values = StructuredDictionary.parse(lines) else { return nil }
        self.init(values)
    }

    private init?(_ values: [String: StructuredDictionary.Value]) {
        switch values["key-order"] {
        case nil: ignoresOrder = false
        case .boolean(let isIgnored)?: ignoresOrder = isIgnored
        case .strings?, .bytes?, .other?: return nil
        }
        func spelled(_ names: [String]) -> Set<String> {
            Set(names.map { FormItems.encoded(FormItems.decoded($0)) })
        }
        switch (values["params"], values["except"]) {
        case (nil, nil), (.boolean(false)?, nil): compared = .all(except: [])
        case (.strings(let names)?, nil): compared = .all(except: spelled(names))
        case (.boolean(true)?, nil): compared = .only([])
        case (.boolean(true)?, .strings(let names)?): compared = .only(spelled(names))
        default: return nil
        }
        if compared == .all(except: []), !ignoresOrder { return nil }
    }

    /// The rule as text, which is the same for all fields with the same meaning, such as `params=(utm_source)`.
    ///
    /// It has no characters but those that a fragment of a URL may contain, and none of `&` and `?`.
    package var text: String {
        func list(_ names: Set<String>) -> String { "(\(names.sorted().joined(separator: ",")))" }
        let order = ignoresOrder ? ["key-order"] : []
        return
            (order
            + {
                switch compared {
                case .all(let names): names.isEmpty ? [] : ["params=\(list(names))"]
                case .only(let names): names.isEmpty ? ["params"] : ["params", "except=\(list(names))"]
                }
            }()).joined(separator: ";")
    }

    /// The part of a query that is compared, in one spelling; empty if nothing of it is.
    ///
    /// Two queries are equal for this response exactly if these texts are.
    package func comparedPart(of query: some StringProtocol) -> String {
        var items = FormItems.split(Substring(query)).filter { item in
            switch compared {
            case .all(let names): !names.contains(FormItems.encoded(item.name))
            case .only(let names): names.contains(FormItems.encoded(item.name))
            }
        }
        if ignoresOrder { items.sortByName() }
        return items.map { "\(FormItems.encoded($0.name))=\(FormItems.encoded($0.value))" }.joined(separator: "&")
    }
}

/// Keys under which responses with `No-Vary-Search` are stored.
///
/// The URL of such a key is that of the path, with a fragment in place of the query. So all keys of a path begin with the
/// same text, and no key of a request does: a canonical URL has no fragment, and a rule adds one that begins otherwise.
///
/// ```text
/// https://shop.example/shoes?size=42&utm_source=mail     the key of a request
/// https://shop.example/shoes#search                      the rules that responses of the path have stated
/// https://shop.example/shoes#search=params=(utm_source)?size=42
/// ```
extension RequestKey {
    private static let mark = "#search"

    /// The text with which all URLs of such keys of a URL's path begin.
    package static func searchPrefix(of url: String) -> String { url.prefix { $0 != "?" && $0 != "#" } + mark }

    /// The key of the rules that responses of the path have stated.
    package var ofSearchRules: RequestKey {
        let (path, _, fragment) = parts
        return with("\(path)\(Self.mark)\(fragment.isEmpty ? "" : "&\(fragment)")")
    }

    /// Whether it is the key of rules, and not of a response.
    package var isOfSearchRules: Bool {
        guard let mark = url.firstIndex(of: "#") else { return false }
        let fragment = url[mark...]
        return fragment == Self.mark || fragment.hasPrefix(Self.mark + "&")
    }

    /// The key of the responses that state a rule, and answer a request with this key.
    package func searched(by rule: NoVarySearch) -> RequestKey {
        let (path, query, fragment) = parts
        let compared = rule.comparedPart(of: query)
        return with(
            "\(path)\(Self.mark)=\(rule.text)\(fragment.isEmpty ? "" : "&\(fragment)")\(compared.isEmpty ? "" : "?\(compared)")"
        )
    }

    /// The names of what a rule has added to the key: `key` for a text of the app's own, `body` for a digest of the body.
    package var additions: [Substring] {
        guard let mark = url.firstIndex(of: "#") else { return [] }
        return url[mark...].dropFirst().prefix { $0 != "?" }.split(separator: "&").map { $0.prefix { $0 != "=" } }
            .filter { $0 != "search" }
    }

    /// The difference between this key and a URL, in words, such as `with a text that the rule adds`; nil if it is a URL.
    package var differenceInWords: String? {
        var parts: [String] = []
        if additions.contains("key") { parts.append("with a text that the rule adds") }
        if additions.contains("body") { parts.append("with a digest of the body") }
        if url.contains(Self.mark) { parts.append("and the same path with some other queries, by No-Vary-Search") }
        return parts.isEmpty ? nil : parts.joined(separator: ", ")
    }

    /// A URL for which a response with this key is the answer, without what a rule has added.
    ///
    /// Of a response with `No-Vary-Search`, it has the part of the query that is compared.
    package var answeredURL: String {
        guard let mark = url.firstIndex(of: "#") else { return url }
        let (target, fragment) = (url[..<mark], url[mark...])
        guard let query = fragment.firstIndex(of: "?") else { return String(target) }
        return String(target + fragment[query...])
    }

    /// Whether a stored response is one of this key, or one that answers it because of `No-Vary-Search`.
    ///
    /// The part of the store does not matter here.
    package func isAnswered(by head: StoredHead) -> Bool {
        method == head.key.method
            && (url == head.key.url || NoVarySearch(head.headerFields).map { searched(by: $0).url } == head.key.url)
    }

    /// The URL up to its query, the query, and the fragment that a rule has added; both without their mark.
    private var parts: (path: Substring, query: Substring, fragment: Substring) {
        let whole = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let parts = whole[0].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        return (parts[0], parts.count > 1 ? parts[1] : "", whole.count > 1 ? whole[1] : "")
    }

    private func with(_ url: String) -> RequestKey { RequestKey(method: method, url: url, partition: partition) }
}
