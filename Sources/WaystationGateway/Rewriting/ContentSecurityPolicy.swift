#if Gateway
/// Policies of a page that is shown under another name (Content Security Policy Level 3).
enum ContentSecurityPolicy {
    private static let dropped: Set<String> = ["upgrade-insecure-requests", "block-all-mixed-content"]

    /// Whether the directive with this name would make the browser ask for https, or refuse a page without https.
    static func isDropped(_ name: String) -> Bool { dropped.contains(name.lowercased()) }

    /// The policy with the gateway's name beside each origin that it allows.
    ///
    /// - Parameters:
    ///   - policy: The value of the field.
    ///   - name: The gateway's origin for an origin; the same text for all other texts.
    /// - Returns: The policy.
    static func local(_ policy: String, _ name: (String) -> String) -> String {
        let policies = policy.split(separator: ",").map { policy in
            policy.split(separator: ";").compactMap { directive($0, name) }.joined(separator: "; ")
        }
        return policies.joined(separator: ", ")
    }

    private static func directive(_ directive: Substring, _ name: (String) -> String) -> String? {
        let words = directive.split(separator: " ").map(String.init)
        guard let first = words.first, !isDropped(first) else { return nil }
        let named = words.map { word in
            let local = name(word)
            return local == word ? word : "\(word) \(local)"
        }
        return named.joined(separator: " ")
    }
}
#endif
