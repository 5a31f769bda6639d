#if Gateway
import Foundation
import WaystationHTTP

/// `Set-Cookie` fields for a browser that knows an origin by its name at the gateway.
enum LocalSetCookie {
    /// The field that a browser understands for an origin's own field.
    ///
    /// `Domain` gets the gateway's name. `Secure` goes, because not every browser counts plain http on this machine as
    /// secure; it stays where a cookie must have it (`SameSite=None`, `Partitioned`, `__Secure-` and `__Host-`).
    ///
    /// - Parameters:
    ///   - field: The value of one `Set-Cookie` field of the origin.
    ///   - origin: The origin.
    /// - Returns: The field; nil if the browser would have to refuse the cookie.
    static func local(_ field: String, of origin: OriginName) -> String? {
        guard let parsed = try? SetCookie(field) else { return nil }
        let parts = field.split(separator: ";", omittingEmptySubsequences: false)
        let names = parts.map { $0.prefix { $0 != "=" }.filter { $0 != " " && $0 != "\t" }.lowercased() }
        let mustBeSecure =
            parsed.sameSite == .none || needsSecure(parsed.name) || names.dropFirst().contains("partitioned")
        var kept = parts.prefix(1).map(String.init)
        for (part, name) in zip(parts, names).dropFirst() {
            switch name {
            case "domain":
                guard let domain = parsed.domain else { continue }
                guard let local = local(domain: domain, of: origin) else { return nil }
                kept.append(" Domain=\(local)")
            case "secure" where !mustBeSecure: continue
            default: kept.append(String(part))
            }
        }
        return kept.joined(separator: ";")
    }

    /// The field that gives a browser a cookie of the app's store.
    static func local(_ cookie: Cookie, of origin: OriginName) -> String? {
        var field = "\(cookie.pair); Path=\(cookie.path)"
        if !cookie.isHostOnly {
            guard let domain = local(domain: cookie.domain, of: origin) else { return nil }
            field += "; Domain=\(domain)"
        }
        if let expires = cookie.expires {
            field += "; Expires=\(HTTPDate(nearestTo: expires.timeIntervalSince1970).fieldValue)"
        }
        switch cookie.sameSite {
        case .strict: field += "; SameSite=Strict"
        case .lax: field += "; SameSite=Lax"
        case .none: field += "; SameSite=None"
        case .unspecified: break
        }
        return field + (cookie.sameSite == .none || needsSecure(cookie.name) ? "; Secure" : "")
    }

    /// The field that makes a browser forget a cookie.
    static func removal(of id: Cookie.ID, of origin: OriginName) -> String? {
        var field = "\(id.name)=; Path=\(id.path); Max-Age=0" + (needsSecure(id.name) ? "; Secure" : "")
        if !id.isHostOnly {
            guard let domain = local(domain: id.domain, of: origin) else { return nil }
            field += "; Domain=\(domain)"
        }
        return field
    }

    /// Whether browsers accept a cookie of this name only with `Secure` (RFC 6265bis §4.1.3).
    private static func needsSecure(_ name: String) -> Bool {
        ["__secure-", "__host-"].contains { name.startsIgnoringCase(with: $0) }
    }

    /// The gateway's name for a cookie's domain; nil if the domain does not cover the origin's host, or is above the
    /// host's registrable domain, where the hosts have other owners (RFC 6265 §5.3 step 5).
    ///
    /// It is the end of the origin's own name, since the origin's site is one label: a browser compares the two from the
    /// end (RFC 6265 §5.1.3).
    private static func local(domain: String, of origin: OriginName) -> String? {
        let site = PublicSuffixes.builtIn.site(of: origin.host)
        guard
            domain == origin.host
                || (origin.host.hasSuffix("." + domain) && (domain == site || domain.hasSuffix("." + site)))
        else { return nil }
        return origin.sibling(at: domain)?.name
    }
}
#endif
