import Foundation
import FoundationNetworking
import WaystationRules

/// A request in the form that rules and the cache use.
///
/// Foundation on Linux never calls `canonicalRequest(for:)`, so the library canonicalises requests itself. Rules match
/// the canonical URL, the cache stores under it, and ``CanonicalTransport`` sends it; only a task that is handed back
/// to Foundation's own loader is sent as the app wrote it.
struct CanonicalRequest: Sendable {
    let url: CanonicalURL
    let method: String

    init?(_ request: URLRequest) {
        guard let text = request.url?.absoluteString, let url = CanonicalURL(text) else { return nil }
        self.url = url
        method = request.httpMethod ?? "GET"
    }

    /// The canonical form of a URL, or its unchanged text when it has none.
    static func url(of url: URL) -> String {
        CanonicalURL(url.absoluteString)?.string ?? url.absoluteString
    }
}
