extension RuleDefinition {
    /// Makes rules from the URLs that a server wants intercepted, in their order.
    ///
    /// - An entry without a glob matches that URL with any query: `https://shop.example/app/index.html`.
    /// - An entry whose path ends in `/` matches that URL and everything below it: `https://shop.example/app/`.
    /// - Globs and query items mean what they mean in a ``URLPattern``.
    ///
    /// - Returns: The rules of the valid entries, and the error of each other entry; an invalid entry does not affect
    ///   the valid ones.
    public static func whitelist(
        _ urls: [String],
        methods: Set<String>? = nil,
        action: Action,
        fileID: String = #fileID,
        line: Int = #line
    ) -> (rules: [RuleDefinition], rejected: [URLPatternError]) {
        var rules: [RuleDefinition] = []
        var rejected: [URLPatternError] = []
        for url in urls {
            do throws(URLPatternError) {
                // The entry is parsed as written, so that an error shows the server's entry without the added `**`.
                let entry = try URLPattern(url)
                let pattern = entry.endsInFolder ? url + "**" : url
                rules.append(
                    RuleDefinition(pattern, methods: methods, action: action, fileID: fileID, line: line)
                )
            } catch {
                rejected.append(error)
            }
        }
        return (rules, rejected)
    }
}

extension URLPattern {
    /// Whether the text ends in a path that ends in a slash.
    ///
    /// A `**` there takes the place of the empty last segment, so the text with it is a valid pattern too.
    fileprivate var endsInFolder: Bool {
        let tail = text[authorityEnd...].utf8
        return tail.last == UInt8(ascii: "/") && !tail.contains(UInt8(ascii: "?"))
    }
}
