import Foundation
import WaystationCookies
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Stores the cookies that responses set in the cookie storage of a configuration, whatever transport they come from.
///
/// Foundation's session would search every line of every head for them, which takes a tenth of the time of a load; this
/// type reads only `Set-Cookie`.
///
/// `@unchecked Sendable`: the storage may be used from any thread, though its type does not declare it.
struct SetCookies: @unchecked Sendable {
    private let storage: HTTPCookieStorage?
    private let policy: HTTPCookie.AcceptPolicy

    init(_ configuration: URLSessionConfiguration) {
        policy = configuration.httpCookieAcceptPolicy
        storage = policy == .never ? nil : configuration.httpCookieStorage
    }

    /// Stores the cookies of a head, including those of redirects and refusals.
    ///
    /// Cookies beyond the limits below are ignored. Foundation's storage has no limits, and writes its file for each
    /// cookie: one response could stop all loads for minutes, and make each later request as large as its own head.
    ///
    /// - Parameters:
    ///   - head: The head.
    ///   - request: The request that it answers; nil for one to the URL of the head, without a main document.
    ///   - now: The present.
    func take(_ head: ResponseHead, to request: URLRequest? = nil, now: Date = Date()) {
        guard let storage, let value = head.rawValue(forHTTPHeaderField: Self.field),
            let url = request?.url ?? head.url, request?.httpShouldHandleCookies ?? true
        else { return }
        let document = request.flatMap(ForwardingTag.document)
        guard storage.cookieAcceptPolicy != .never, accepts(url, for: document) else { return }
        let cookies = Self.cookies(in: value, for: url)
        guard !cookies.isEmpty else { return }
        let stored = storage.cookies ?? []
        let taken = Self.first(of: cookies, over: stored, now)
        for cookie in Self.displaced(by: taken, from: stored, now) { storage.deleteCookie(cookie) }
        if !taken.isEmpty { storage.setCookies(taken, for: url, mainDocumentURL: document) }
    }

    /// Whether the configuration accepts the cookies of a URL that is loaded for a main document.
    ///
    /// Foundation's own loader ignores `onlyFromMainDocumentDomain`. The storage has a policy of its own.
    private func accepts(_ url: URL, for document: URL?) -> Bool {
        guard policy == .onlyFromMainDocumentDomain, let document else { return true }
        // The domain decides, not the scheme.
        var components = URLComponents(url: document, resolvingAgainstBaseURL: true)
        components?.scheme = url.scheme
        guard let document = components?.url else { return false }
        return CookieRules().isSameSite(document, url)
    }

    /// The cookies of a field that are not too large.
    private static func cookies(in value: String, for url: URL) -> [HTTPCookie] {
        let beginning = beginning(of: value)
        var cookies = HTTPCookie.cookies(withResponseHeaderFields: [field: String(beginning)], for: url)
        // The last one may lack attributes, such as Secure.
        if beginning.endIndex < value.endIndex { cookies = cookies.dropLast() }
        return cookies.filter { $0.name.utf8.count + $0.value.utf8.count <= maximumLength }
    }

    /// The bytes of a field that are read.
    private static func beginning(of value: String) -> Substring {
        let end = value.utf8.index(value.startIndex, offsetBy: maximumField, limitedBy: value.endIndex)
        return value[..<(end ?? value.endIndex)]
    }

    /// The first cookies of a head, and those that remove a stored one.
    private static func first(of cookies: [HTTPCookie], over stored: [HTTPCookie], _ now: Date) -> [HTTPCookie] {
        guard cookies.count > maximumInHead || cookies.contains(where: { $0.isPast(now) }) else { return cookies }
        var names = Set(stored.map(CookieName.init))
        var count = 0
        return cookies.filter { cookie in
            guard !cookie.isPast(now) else { return names.contains(CookieName(cookie)) }
            count += 1
            guard count <= maximumInHead else { return false }
            names.insert(CookieName(cookie))
            return true
        }
    }

    /// The stored cookies that give way to new ones, because a client keeps a limited number for each domain
    /// (RFC 6265 §5.3): those that end first.
    private static func displaced(by cookies: [HTTPCookie], from stored: [HTTPCookie], _ now: Date) -> [HTTPCookie] {
        guard stored.count + cookies.count > maximumForDomain else { return [] }
        let lasting = stored.filter { !$0.isPast(now) }
        var names = Set(lasting.map(CookieName.init))
        var rest = Dictionary(grouping: lasting) { CookieName($0).host }
            .mapValues { $0.sorted { $0.end > $1.end } }
        var counts = rest.mapValues(\.count)
        return cookies.compactMap { cookie in
            let name = CookieName(cookie)
            guard !cookie.isPast(now), names.insert(name).inserted else { return nil }
            guard counts[name.host, default: 0] >= maximumForDomain else {
                counts[name.host, default: 0] += 1
                return nil
            }
            return rest[name.host]?.popLast()
        }
    }

    private static let field = "Set-Cookie"
    /// The number of bytes of a field that are read.
    private static let maximumField = 64 << 10
    /// The largest cookie that is kept, with its name; larger ones are ignored (RFC 6265bis §5.6).
    private static let maximumLength = 4096
    /// The number of cookies that one head can set: as many as each client keeps of a domain (RFC 6265 §6.1).
    private static let maximumInHead = 50
    /// The number of cookies of one domain, as in Chromium.
    private static let maximumForDomain = 180
}

extension HTTPCookie {
    /// The time at which the cookie ends; one of a session lasts longest.
    fileprivate var end: Date { expiresDate ?? .distantFuture }

    fileprivate func isPast(_ now: Date) -> Bool { end <= now }
}

/// The identity of a cookie in a storage (RFC 6265 §5.3).
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
