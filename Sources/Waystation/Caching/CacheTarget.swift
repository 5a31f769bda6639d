import Foundation
import FoundationNetworking
import WaystationRules

extension URL {
    /// The URL in canonical form, as requests that are forwarded are sent, without fragment; nil where it has no
    /// canonical form, or one that Foundation would write in another way.
    var canonical: URL? {
        let text = absoluteString
        guard let canonical = CanonicalURL(text)?.string else { return nil }
        return text == canonical ? self : Self.spelled(canonical)
    }

    /// The URL of a canonical text, where Foundation leaves the text as it is.
    private static func spelled(_ canonical: String) -> URL? {
        guard let url = URL(string: canonical), url.absoluteString == canonical else { return nil }
        return url
    }

    /// Whether the URL is sent as this canonical text.
    func isSent(as canonical: String) -> Bool {
        absoluteString == canonical || Self.spelled(canonical) != nil
    }
}

/// The host that a `Host` field names beside a URL (RFC 9110 §7.2).
enum HostField {
    /// Whether the field names the host and port of a canonical URL, in whatever spelling.
    static func names(_ field: String, theHostOf url: String) -> Bool {
        guard let target = CanonicalURL(url), let named = CanonicalURL("\(target.scheme)://\(field)/") else {
            return false
        }
        // A field that holds more than a host and a port names something else.
        return named.string == target.origin + "/"
    }
}
