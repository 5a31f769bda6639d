/// Which domains belong to nobody, so that no cookie may be set for all of them (RFC 6265 §5.3 step 5).
///
/// No list ships with this module, since one grows old. Give ``init(_:)`` a check against a current list
/// (<https://publicsuffix.org>) where cookies of hosts that do not trust each other are kept in one jar.
public struct PublicSuffixes: Sendable {
    private let contains: @Sendable (String) -> Bool

    /// Makes a check of the app's own list.
    ///
    /// - Parameter contains: Asked with a domain of two labels or more, lower case, without a dot at either end. Single
    ///   labels (`com`, `localhost`) are public suffixes always and are not asked about.
    public init(_ contains: @escaping @Sendable (String) -> Bool) {
        self.contains = contains
    }

    /// The rule without a list: single labels, and such pairs as `co.uk`: a country's code under one of the labels that
    /// registries use for everybody (`ac`, `co`, `com`, `edu`, `gob`, `gouv`, `gov`, `go`, `ltd`, `me`, `mil`, `ne`,
    /// `net`, `nom`, `or`, `org`, `plc`, `sch`).
    ///
    /// It errs on the closed side: where such a pair is a plain host, its cookies are host-only.
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

    /// Whether nobody owns a domain.
    func contain(_ domain: String) -> Bool {
        // The root's dot changes the name's text, not whose it is.
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
