import Foundation
import WaystationRules

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request in the form that rules and the cache use.
///
/// Foundation on Linux never calls `canonicalRequest(for:)`, so the library canonicalises requests itself. Rules match
/// the canonical URL, the cache stores under it (without user information), and ``OriginExchange`` sends it; only a task
/// that is handed back to Foundation's own loader is sent as the app wrote it.
struct CanonicalRequest: Sendable {
    let url: CanonicalURL
    let method: String

    init?(_ request: URLRequest) {
        guard let text = request.url?.absoluteString, let url = CanonicalURL(text) else { return nil }
        self.url = url
        method = request.httpMethod ?? "GET"
    }

    /// Whether the method is safe (RFC 9110 §9.2.1): its response invalidates nothing.
    var isSafe: Bool { Self.safeMethods.contains(method) }

    private static let safeMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE"]

    /// The URL under which the responses of a URL are stored, in its unchanged text when it has no canonical form.
    static func storedURL(of url: URL) -> String {
        StoredURL(canonical: CanonicalURL(url.absoluteString)?.string ?? url.absoluteString).text
    }
}
