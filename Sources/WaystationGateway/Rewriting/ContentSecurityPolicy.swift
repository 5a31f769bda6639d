#if Gateway
/// Policies of a page that is shown under another name (Content Security Policy Level 3).
enum ContentSecurityPolicy {
    private static let dropped: Set<String> = ["upgrade-insecure-requests", "block-all-mixed-content"]

    /// Whether the directive with this name would make the browser ask for https, or refuse a page without https.
    static func isDropped(_ name: String) -> Bool { dropped.contains(name.lowercased()) }

    private static let sourceSuffixes = ["-src", "-src-elem", "-src-attr"]
    private static let sourceDirectives: Set<String> = ["base-uri", "form-action", "frame-ancestors"]

    /// Whether the values of the directive with this name are sources.
    ///
    /// The values of other directives, such as `sandbox` and `trusted-types`, can look like hosts.
    static func listsSources(_ name: String) -> Bool {
        let name = name.lowercased()
        return sourceSuffixes.contains { name.hasSuffix($0) } || sourceDirectives.contains(name)
    }

    /// The policy with the gateway's names beside each source that it admits.
    ///
    /// - Parameters:
    ///   - policy: The value of the field.
    ///   - links: The gateway's names, and the scheme of the page.
    /// - Returns: The policy.
    static func local(_ policy: String, _ links: Links) -> String {
        let policies = policy.split(separator: ",").map { policy in
            policy.split(separator: ";").compactMap { directive($0, links) }.joined(separator: "; ")
        }
        return policies.joined(separator: ", ")
    }

    private static func directive(_ directive: Substring, _ links: Links) -> String? {
        let words = directive.split { $0 == " " || $0 == "\t" }.map(String.init)
        guard let first = words.first, !isDropped(first) else { return nil }
        guard listsSources(first) else { return words.joined(separator: " ") }
        let named = words.dropFirst().flatMap { word in
            guard let source = PolicySource(word) else { return [word] }
            return [word] + source.local(links).map { $0 + source.path }
        }
        return ([first] + named).joined(separator: " ")
    }
}
#endif
