import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Stores the cookies that responses set in the cookie storage of a configuration, as its session would.
///
/// The session would search every line of every head for them, which takes a tenth of the time of a load; this type
/// reads only `Set-Cookie`.
///
/// `@unchecked Sendable`: the storage may be used from any thread, though its type does not declare it.
package struct SetCookies: @unchecked Sendable {
    private let storage: HTTPCookieStorage?

    package init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpCookieAcceptPolicy == .never ? nil : configuration.httpCookieStorage
    }

    /// Stores the cookies of a head, including those of redirects and refusals.
    ///
    /// Cookies beyond the limits below are ignored. Foundation's storage has no limits, and writes its file for each
    /// cookie: one response could stop all loads for minutes, and make each later request as large as its own head.
    package func take(_ head: ResponseHead) {
        guard let storage, let url = head.url, let value = head.value(forHTTPHeaderField: Self.field) else { return }
        let cookies = admitted(Self.cookies(in: value, for: url), to: storage)
        if !cookies.isEmpty { storage.setCookies(cookies, for: url, mainDocumentURL: nil) }
    }

    /// The first cookies of a field that are not too large.
    private static func cookies(in value: String, for url: URL) -> [HTTPCookie] {
        let beginning = beginning(of: value)
        var cookies = HTTPCookie.cookies(withResponseHeaderFields: [field: String(beginning)], for: url)
        // The last one may lack attributes, such as Secure.
        if beginning.endIndex < value.endIndex { cookies = cookies.dropLast() }
        return cookies.prefix(maximumInHead).filter { $0.name.utf8.count + $0.value.utf8.count <= maximumLength }
    }

    /// A field up to the comma after which no cookie is read.
    private static func beginning(of value: String) -> Substring {
        var commas = 0
        let end = value.utf8.firstIndex { byte in
            if byte == UInt8(ascii: ",") { commas += 1 }
            return commas > maximumCommas
        }
        return value[..<(end ?? value.endIndex)]
    }

    /// The cookies that replace or remove one of the storage's, and as many new ones as their domains may have.
    private func admitted(_ cookies: [HTTPCookie], to storage: HTTPCookieStorage) -> [HTTPCookie] {
        let stored = storage.cookies ?? []
        guard stored.count + cookies.count > Self.maximumForDomain else { return cookies }
        var names = Set(stored.map(CookieName.init))
        var counts: [Substring: Int] = [:]
        for name in names { counts[name.host, default: 0] += 1 }
        return cookies.filter { cookie in
            let name = CookieName(cookie)
            if names.contains(name) { return true }
            guard counts[name.host, default: 0] < Self.maximumForDomain else { return false }
            names.insert(name)
            counts[name.host, default: 0] += 1
            return true
        }
    }

    private static let field = "Set-Cookie"
    /// The largest cookie that is kept, with its name; larger ones are ignored (RFC 6265bis §5.6).
    private static let maximumLength = 4096
    /// The number of cookies that one head can set: as many as each client keeps of a domain (RFC 6265 §6.1).
    private static let maximumInHead = 50
    /// The number of commas up to which a field is read; a cookie needs two, one of them in its date.
    private static let maximumCommas = 4 * maximumInHead
    /// The number of cookies of one domain, as in browsers.
    private static let maximumForDomain = 180
}

/// What tells the cookies of a storage apart (RFC 6265 §5.3).
private struct CookieName: Hashable {
    let domain: String
    let path: String
    let name: String

    init(_ cookie: HTTPCookie) {
        domain = cookie.domain
        path = cookie.path
        name = cookie.name
    }

    /// The domain without the dot that says that it has the attribute `Domain`.
    var host: Substring { domain.drop { $0 == "." } }
}
