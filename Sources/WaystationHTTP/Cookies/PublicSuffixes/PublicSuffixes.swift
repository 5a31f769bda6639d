/// The check for public suffixes: domains such as `co.uk`, with many owners, for which no cookie may be set
/// (RFC 6265 §5.3 step 5).
public struct PublicSuffixes: Sendable {
    private let contains: @Sendable (String) -> Bool

    /// Makes a check from the app's own list.
    ///
    /// - Parameter contains: Returns whether a domain is a public suffix. The domain has two labels or more, is in
    ///   lower case and has no dot at either end. Single labels (`com`, `localhost`) are always public suffixes and are
    ///   not passed to it.
    public init(_ contains: @escaping @Sendable (String) -> Bool) {
        self.contains = contains
    }

    /// The Public Suffix List (<https://publicsuffix.org>), as it was when this version of the library was made.
    ///
    /// Both parts of the list count: registries (`co.uk`), and hosts of many customers (`github.io`). A single label
    /// that the list does not have is a public suffix.
    public static let builtIn = PublicSuffixes { PublicSuffixTable.contains($0) }

    /// Whether the built-in list has public suffixes below a domain, so that the names below it belong to several sites.
    ///
    /// - Parameter domain: The domain, in lower case.
    /// - Returns: True for a public suffix, and for a domain such as `amazonaws.com`, below which there are some.
    package static func separates(_ domain: String) -> Bool {
        builtIn.contain(domain) || PublicSuffixTable.hasRules(below: domain)
    }

    /// Whether a domain is a public suffix.
    package func contain(_ domain: String) -> Bool {
        // The root's dot changes the name's text, but not which domain it is.
        let name = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        return !name.utf8.contains(UInt8(ascii: ".")) || contains(name)
    }

    /// The domain that has one owner and contains a host: its public suffix and the label before it.
    ///
    /// - Parameter host: A host name of ASCII, or an address.
    /// - Returns: The domain in lower case; the host itself if it is an address or a public suffix.
    package func site(of host: String) -> String {
        guard let host = CookieHost(host) else { return host }
        return registrableDomain(of: host) ?? host.name
    }

    /// The public suffix of a host and the label before it; `nil` when the host is an address or a public suffix.
    func registrableDomain(of host: CookieHost) -> String? {
        guard !host.isAddress else { return nil }
        var owned: String?
        for suffix in host.suffixes {
            guard !contain(suffix) else { return owned }
            owned = suffix
        }
        return owned
    }
}
