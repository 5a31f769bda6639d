extension RuleDefinition {
    /// Rules made of the URLs that a server wants intercepted, in their order.
    ///
    /// - An entry without a glob is that URL with any query: `https://shop.example/app/index.html`.
    /// - An entry whose path ends in `/` is that URL and everything below it: `https://shop.example/app/`.
    /// - Globs and query items mean what they mean in a ``URLPattern``.
    ///
    /// - Returns: The rules of the entries that are understood, and why each of the others is not; a bad entry never
    ///   costs a good one.
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
                // Read as written first, so that the error shows the entry of the server and not our addition to it.
                _ = try URLPattern(url)
                let pattern = url.hasSuffix("/") && !url.contains("?") ? url + "**" : url
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
