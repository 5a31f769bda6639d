import Foundation
import WaystationRules

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URL {
    /// The canonical URL without its fragment, to which forwarded requests are sent; nil when the URL has no canonical
    /// form, or when Foundation would write that form differently.
    var canonical: URL? {
        let text = absoluteString
        guard let canonical = CanonicalURL(text)?.string else { return nil }
        return text == canonical ? self : Self.spelled(canonical)
    }

    /// The URL of a canonical text; nil when Foundation changes the text.
    private static func spelled(_ canonical: String) -> URL? {
        guard let url = URL(string: canonical), url.absoluteString == canonical else { return nil }
        return url
    }

    /// Whether the URL is sent as this canonical text.
    func isSent(as canonical: String) -> Bool {
        absoluteString == canonical || Self.spelled(canonical) != nil
    }
}

/// The host that a request's `Host` field names (RFC 9110 §7.2).
enum HostField {
    /// Whether the field names the host and port of a canonical URL, however it is spelled.
    static func names(_ field: String, theHostOf url: String) -> Bool {
        guard let target = CanonicalURL(url), let named = CanonicalURL("\(target.scheme)://\(field)/") else {
            return false
        }
        // A field with more than a host and a port does not name that host.
        return named.string == target.origin + "/"
    }
}
