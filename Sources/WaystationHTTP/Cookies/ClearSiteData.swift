package import Foundation

/// The data that an origin wants clients to remove, by the field `Clear-Site-Data` of a response
/// (<https://www.w3.org/TR/clear-site-data/>).
package struct ClearSiteData: Equatable, Sendable {
    /// The field's name as Foundation spells it.
    package static let field = "Clear-Site-Data"

    /// Whether the stored responses of the origin are to be removed.
    package let cache: Bool
    /// Whether the cookies of the origin's site are to be removed: those of its registrable domain, and of all hosts in it.
    package let cookies: Bool

    /// Reads the field's value; nil if it demands nothing of a cache or of a store of cookies.
    ///
    /// The value is a list of quoted strings. Members that are not known, and members without quotation marks, are ignored.
    package init?(_ value: String) {
        let types = Set(value.quotedListMembers.compactMap(Self.quoted))
        let all = types.contains("*")
        cache = all || types.contains("cache")
        cookies = all || types.contains("cookies")
        guard cache || cookies else { return nil }
    }

    private static func quoted(_ member: Substring) -> String? {
        var rest = member.utf8
        guard let text = rest.takeQuotedString(), rest.isEmpty else { return nil }
        return String(decoding: text, as: UTF8.self)
    }
}

extension CookieRules {
    /// Whether a cookie belongs to the site of a URL: its domain is the registrable domain of the URL, or below it.
    ///
    /// To an address, and to a host that is itself a public suffix, only its own cookies belong.
    package func isCookie(of domain: String, fromSiteOf url: URL) -> Bool {
        guard let location = CookieLocation(url),
            let host = CookieHost(domain.hasPrefix(".") ? String(domain.dropFirst()) : domain)
        else { return false }
        return host.domainMatches(publicSuffixes.registrableDomain(of: location.host) ?? location.host.name)
    }
}
