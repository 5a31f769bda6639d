/// Checks a cookie's attributes against the requirements of its name's prefix and of `SameSite=None` (RFC 6265bis
/// §4.1.3 and §5.7).
enum CookiePrefix {
    static func check(_ cookie: Cookie, pathWasExplicit: Bool) throws(CookieError) {
        if cookie.sameSite == .none, !cookie.isSecure {
            throw CookieError(.sameSite, "SameSite=None needs Secure; add it to the cookie")
        }
        // A cookie without a name is sent as its bare value, which a server would read as a name (§5.7).
        guard !cookie.name.isEmpty else {
            guard !cookie.value.hasASCIIPrefix("__Secure-"), !cookie.value.hasASCIIPrefix("__Host-") else {
                throw CookieError(.prefix, "a nameless cookie's value must not begin with __Secure- or __Host-")
            }
            return
        }
        if cookie.name.hasASCIIPrefix("__Secure-"), !cookie.isSecure {
            throw CookieError(.prefix, "a name that begins with __Secure- needs Secure; add it to the cookie")
        }
        if cookie.name.hasASCIIPrefix("__Host-") {
            guard cookie.isSecure, cookie.isHostOnly, cookie.path == "/", pathWasExplicit else {
                throw CookieError(
                    .prefix,
                    "a name that begins with __Host- needs Secure, Path=/ and no Domain; set all three"
                )
            }
        }
    }
}
