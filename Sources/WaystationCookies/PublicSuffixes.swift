/// The check for public suffixes: domains such as `co.uk` with many owners, for which no cookie may be set (RFC 6265
/// §5.3 step 5).
///
/// No list ships with this module, since a list becomes outdated. Give ``init(_:)`` a check against a current list
/// (<https://publicsuffix.org>) where cookies of hosts that do not trust each other are kept in one jar.
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

    /// The rule without a list: a single label is a public suffix, and so is a pair such as `co.uk`, a country code
    /// with one of the labels that registries offer to everybody (`ac`, `co`, `com`, `edu`, `gob`, `gouv`, `gov`, `go`,
    /// `ltd`, `me`, `mil`, `ne`, `net`, `nom`, `or`, `org`, `plc`, `sch`).
    ///
    /// The rule errs on the strict side: when such a pair is an ordinary host, its cookies are host-only.
    public static let builtIn = PublicSuffixes { domain in
        let labels = domain.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard labels.count == 2, labels[1].count == 2 else { return false }
        return sharedSecondLevels.contains(String(decoding: labels[0], as: UTF8.self))
    }

    private static let sharedSecondLevels: Set<String> = [
        "ac", "co", "com", "edu", "gob", "gouv", "gov", "go", "ltd", "me", "mil", "ne", "net", "nom", "or", "org",
        "plc",
        "sch",
    ]

    /// Whether a domain is a public suffix.
    func contain(_ domain: String) -> Bool {
        // The root's dot changes the name's text, but not which domain it is.
        let name = domain.hasSuffix(".") ? String(domain.dropLast()) : domain
        return !name.utf8.contains(UInt8(ascii: ".")) || contains(name)
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
