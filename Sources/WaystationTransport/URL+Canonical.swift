package import Foundation
import WaystationRules

extension URL {
    /// The canonical URL without its fragment, to which forwarded requests are sent; nil when the URL has no canonical
    /// form, or when Foundation would write that form differently.
    package var canonical: URL? {
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
    package func isSent(as canonical: String) -> Bool {
        absoluteString == canonical || Self.spelled(canonical) != nil
    }

    /// Whether two URLs have the same origin (RFC 6454 §5): scheme, host and port.
    ///
    /// A URL without a canonical form has the origin of no other one, since programs disagree about its host.
    package func hasSameOrigin(as other: URL) -> Bool {
        guard let own = CanonicalURL(absoluteString), let other = CanonicalURL(other.absoluteString) else {
            return false
        }
        return own.origin == other.origin
    }
}
