package import Foundation

extension Cookie {
    /// The hosts that get a cookie.
    package struct Scope: Hashable, Sendable {
        private let domain: String
        private let isHostOnly: Bool

        fileprivate init(_ domain: String, isHostOnly: Bool) {
            self.domain = domain
            self.isHostOnly = isHostOnly
        }

        /// The scopes of all cookies that a URL's host can get, whatever the path and the scheme are.
        package static func all(for url: URL) -> [Scope] {
            guard let host = CookieLocation(url)?.host else { return [] }
            return [Scope(host.name, isHostOnly: true)] + host.suffixes.map { Scope($0, isHostOnly: false) }
        }
    }

    /// The hosts that get the cookie.
    package var scope: Scope { Scope(domain, isHostOnly: isHostOnly) }
}
