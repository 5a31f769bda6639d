#if Gateway
import WaystationHTTP

/// The hosts of rules for which an authority makes certificates.
///
/// A rule counts if its pattern takes `https` URLs and names a host. The authority's constraint is a list of names:
/// a certificate may be for such a name, or for any name below it (RFC 5280 §4.2.1.10).
struct CertifiedHosts: Sendable {
    /// The names of the constraint, sorted.
    let names: [String]
    /// The patterns of `https` whose hosts get no certificate: every host, an address, or a public suffix, such as
    /// `com`, `dev`, `co.uk` or `github.io`, other than `localhost`.
    let leftOut: [String]
    private let patterns: [URLPattern]

    init(of all: [URLPattern]) {
        var names: Set<String> = []
        var patterns: [URLPattern] = []
        var leftOut: [String] = []
        for pattern in all where pattern.takesHTTPS {
            if let name = Self.name(in: pattern) {
                names.insert(name)
                patterns.append(pattern)
            } else {
                leftOut.append(pattern.text)
            }
        }
        self.names = names.sorted()
        self.patterns = patterns
        self.leftOut = leftOut
    }

    /// Whether a rule takes some URL at a host and a port.
    ///
    /// - Parameters:
    ///   - host: The host as a client wrote it. A spelling that is not the canonical one, apart from letter case, is not
    ///     among the hosts, because programs disagree about its meaning.
    ///   - port: The port.
    /// - Returns: Whether the host has a certificate there.
    func contains(_ host: String, port: Int) -> Bool {
        guard let url = CanonicalURL("https://\(host):\(port)/"), url.host == host.lowercased(),
            CertificateName.isPermitted(String(url.host), below: names)
        else { return false }
        return patterns.contains { $0.takesSomething(below: url) }
    }

    /// The name of the constraint for a pattern; nil if the pattern takes hosts that no single name covers, or if the
    /// constraint would permit names that are not the app's own.
    private static func name(in pattern: URLPattern) -> String? {
        guard let name = pattern.domain, CertificateName.isCertifiable(name) else { return nil }
        // A constraint permits all names below its name, and those below a public suffix are not the app's own. Names below
        // `localhost` are this machine (RFC 6761 §6.3).
        return name == "localhost" || !PublicSuffixes.builtIn.contain(name) ? name : nil
    }
}

/// Names of hosts in certificates.
enum CertificateName {
    /// Whether a host in canonical form can be in a certificate: it is a name without a dot at its end, not an address.
    static func isCertifiable(_ host: String) -> Bool {
        OriginName.isHost(host) && !host.utf8.endsInNumber
    }

    /// Whether a constraint permits a name: the name is one of the constraint, or below one (RFC 5280 §4.2.1.10).
    static func isPermitted(_ host: String, below names: [String]) -> Bool {
        isCertifiable(host) && names.contains { host == $0 || host.hasSuffix("." + $0) }
    }
}
#endif
