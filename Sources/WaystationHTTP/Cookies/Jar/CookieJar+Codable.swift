import Foundation

// The coded form: {"version": 1, "cookies": [{"name": "sid", "value": "31d4", "domain": "example.com", "isHostOnly":
// true, "path": "/", "isSecure": true, "isHTTPOnly": true, "sameSite": "lax", "creation": …, "lastAccess": …,
// "expires": …}, …]}, oldest first. A session cookie has no `expires`. The encoder decides how dates are written.
extension CookieJar: Codable {
    private enum Key: String, CodingKey {
        case version, cookies
    }

    /// Reads a jar that ``encode(to:)`` wrote; the jar gets the default rules.
    ///
    /// - Throws: A `DecodingError` for another version, or for a cookie that could not be sent.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let version = try container.decode(Int.self, forKey: .version)
        guard version == 1 else {
            throw DecodingError.dataCorruptedError(
                forKey: .version,
                in: container,
                debugDescription: "cookies of version \(version) cannot be read; the supported version is 1"
            )
        }
        // The rules limit only newly stored cookies, and the app may have filled this jar under wider ones.
        self.init(rules: CookieRules(maximumForDomain: .max, maximumInAll: .max))
        defer { rules = CookieRules() }
        for cookie in try container.decode([Cookie].self, forKey: .cookies) {
            // There is no clock here: the next mutation removes cookies that have expired meanwhile, and reports them.
            _ = put(cookie, now: .distantPast)
        }
    }

    /// Writes all cookies, including session cookies: call ``removeSessionCookies()`` on a copy to leave them out.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .version)
        try container.encode(cookies, forKey: .cookies)
    }
}

extension Cookie: Codable {
    private enum Key: String, CodingKey {
        case name, value, domain, isHostOnly, path, expires, isSecure, isHTTPOnly, sameSite, creation, lastAccess
    }

    /// Reads a cookie and checks it like one that the app makes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        do {
            try self.init(
                name: container.decode(String.self, forKey: .name),
                value: container.decode(String.self, forKey: .value),
                domain: container.decode(String.self, forKey: .domain),
                isHostOnly: container.decode(Bool.self, forKey: .isHostOnly),
                path: container.decode(String.self, forKey: .path),
                expires: container.decodeIfPresent(Date.self, forKey: .expires),
                isSecure: container.decode(Bool.self, forKey: .isSecure),
                isHTTPOnly: container.decode(Bool.self, forKey: .isHTTPOnly),
                sameSite: container.decode(SameSite.self, forKey: .sameSite),
                creation: container.decode(Date.self, forKey: .creation)
            )
        } catch let error as CookieError {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(
                    codingPath: decoder.codingPath,
                    debugDescription: "\(error)",
                    underlyingError: error
                )
            )
        }
        lastAccess = try container.decode(Date.self, forKey: .lastAccess)
    }

    /// Writes a cookie.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(value, forKey: .value)
        try container.encode(domain, forKey: .domain)
        try container.encode(isHostOnly, forKey: .isHostOnly)
        try container.encode(path, forKey: .path)
        try container.encodeIfPresent(expires, forKey: .expires)
        try container.encode(isSecure, forKey: .isSecure)
        try container.encode(isHTTPOnly, forKey: .isHTTPOnly)
        try container.encode(sameSite, forKey: .sameSite)
        try container.encode(creation, forKey: .creation)
        try container.encode(lastAccess, forKey: .lastAccess)
    }
}
