package import WaystationFoundation
import WaystationHTTP

// The origin of a URL, and the credentials that must not leave it.

extension URL {
    /// Whether the URL is an `http` or `https` URL with a host: a server must not redirect a client to files of its own
    /// machine.
    package var isHTTP: Bool {
        guard let scheme, let host = host(percentEncoded: true), !host.isEmpty else { return false }
        return scheme.equalsIgnoringCase("http") || scheme.equalsIgnoringCase("https")
    }

    /// Whether the scheme is `https`.
    package var isHTTPS: Bool { scheme?.equalsIgnoringCase("https") ?? false }

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

/// The header fields that carry credentials, and so must be sent to one origin only.
package enum CredentialFields {
    package static let names = ["Authorization", "Cookie", "Proxy-Authorization"]

    package static func contains(_ name: String) -> Bool {
        names.contains { $0.equalsIgnoringCase(name) }
    }
}

/// The user and the password of the Basic scheme (RFC 7617 §2).
package struct BasicCredentials: Sendable {
    private let user: String
    private let password: String

    /// Makes credentials of their parts.
    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Reads the user information of a URL, in which user and password are percent-encoded.
    package init(userInfo: Substring) {
        let parts = userInfo.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map { part in
            String(part).removingPercentEncoding ?? String(part)
        }
        self.init(user: parts.first ?? "", password: parts.count > 1 ? parts[1] : "")
    }

    /// Whether there is neither a user nor a password.
    package var isEmpty: Bool { user.isEmpty && password.isEmpty }

    /// The value of `Authorization` or `Proxy-Authorization`.
    package var fieldValue: String { "Basic " + Data("\(user):\(password)".utf8).base64EncodedString() }
}
