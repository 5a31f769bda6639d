import Foundation

/// Reads the header fields about caching.
enum CacheStatus {
    /// Whether a cache answered, by a member of `Cache-Status` (RFC 9211) with the parameter `hit`.
    static func isHit(_ field: String?) -> Bool {
        guard let field else { return false }
        return field.split(separator: ",").contains { member in
            member.split(separator: ";").dropFirst().contains { $0.trimmingCharacters(in: .whitespaces) == "hit" }
        }
    }

    /// The reason why a response must not be stored (RFC 9111, section 5.2.2.5), in words; nil if it may be stored.
    static func refusal(cacheControl: String?) -> String? {
        let directives = (cacheControl ?? "").lowercased().split(separator: ",")
        let isRefused = directives.contains { $0.trimmingCharacters(in: .whitespaces) == "no-store" }
        return isRefused ? "the server forbids keeping it (Cache-Control: no-store)" : nil
    }
}
