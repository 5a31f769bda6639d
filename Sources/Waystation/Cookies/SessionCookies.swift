import Dispatch
import Synchronization
package import WaystationFoundation
public import WaystationHTTP

/// The cookies of the sessions that are made from one configuration.
final class SessionCookies: Sendable {
    let store: CookieStore
    /// The cookie of the login; nil without a login.
    private let login: Cookie.ID?
    /// Whether the configuration lets its sessions send cookies.
    private let sendsCookies: Bool
    /// Whether the configuration lets its sessions take the cookies of responses.
    private let takesCookies: Bool
    /// Keeps the configuration's own storage in step; nil when the configuration has none, or when another store has
    /// it.
    private let sync: CookieSync?
    /// The configuration's own storage when it is in step with another store: its pairs are recorded, and it is not
    /// changed.
    fileprivate let foreign: Foreign?

    fileprivate final class Foreign: Sendable {
        let storage: FoundationCookieStorage
        let last = Mutex(FoundationCookieStorage.Snapshot())

        init(_ storage: FoundationCookieStorage) { self.storage = storage }
    }

    /// Makes the cookies that the requests of one session configuration carry.
    ///
    /// - Parameters:
    ///   - store: The interceptor's cookies.
    ///   - login: The cookie of its login; nil without one.
    ///   - configuration: The configuration, with its own storage.
    ///   - synchronize: Keeps the storage in step with the store; returns nil if another store does that.
    init(
        _ store: CookieStore,
        login: Cookie.ID?,
        for configuration: URLSessionConfiguration,
        synchronize: (HTTPCookieStorage) -> CookieSync?
    ) {
        self.store = store
        self.login = login
        sendsCookies = configuration.httpShouldSetCookies
        takesCookies = configuration.httpCookieAcceptPolicy != .never
        let storage = configuration.httpCookieStorage
        let sync = storage.flatMap(synchronize)
        self.sync = sync
        foreign = sync == nil ? storage.map { Foreign(FoundationCookieStorage($0, now: store.now)) } : nil
    }

    /// The request with its chosen cookies, after the app's changes in its storage were taken over.
    func choosing(for request: URLRequest) -> URLRequest {
        _ = sync?.look()
        foreign?.note(in: store)
        guard sendsCookies else { return request }
        guard request.httpShouldHandleCookies else {
            return sync == nil && foreign == nil ? request : store.removingKnown(from: request)
        }
        return store.choosing(for: request, login: login)
    }

    /// Whether the cookies of the response to a request are taken.
    func areTaken(for request: URLRequest) -> Bool { takesCookies && request.httpShouldHandleCookies }

    /// Begins a load that Foundation's own loader runs; it ends when the result is released, after
    /// ``take(_:loadedByFoundationFor:sent:)``.
    func beginFoundationLoad(of request: URLRequest) -> CookieSync.FoundationLoad? {
        guard takesCookies, let url = request.url else { return nil }
        return sync?.beginLoad(of: url, refusesCookies: !request.httpShouldHandleCookies)
    }

    /// Takes over the cookies of a response that Foundation's own loader has received.
    ///
    /// The loader has stored them in the configuration's storage too, by rules of its own that lose attributes. They are
    /// replaced there by the store's.
    ///
    /// - Parameters:
    ///   - head: The head; nil if it is not known, because the load was cancelled or has failed.
    ///   - request: The request, after redirects.
    ///   - moment: The moment at which the request was sent.
    func take(_ head: ResponseHead?, loadedByFoundationFor request: URLRequest, sent moment: CookieStore.Moment) {
        guard takesCookies, let url = request.url else { return }
        guard let head else {
            if !request.httpShouldHandleCookies, let sync { sync.note(sync.recognizeUndecided(at: url)) }
            return
        }
        guard let field = head.value(forHTTPHeaderField: "Set-Cookie") else { return }
        let stored = sync?.recognize(Self.names(in: field), at: url) ?? []
        // Foundation ignores `httpShouldHandleCookies`: it has stored the cookies of a request that refuses them too.
        if areTaken(for: request) { store.take(head, to: request, sent: moment) }
        sync?.note(stored)
    }

    /// The names of the cookies in a `Set-Cookie` field, including those of cookies that the store refuses.
    private static func names(in field: String) -> Set<String> {
        Set(
            SetCookie.split(joined: field).map { text in
                let pair = String(text.prefix { $0 != ";" })
                return CookiePairs.name(of: pair).trimmingSpace()
            }
        )
    }
}

extension SessionCookies.Foreign {
    /// Records the pairs that Foundation took from a storage of another store, so that they do not count as the app's
    /// own.
    fileprivate func note(in store: CookieStore) {
        guard let snapshot = storage.snapshot else { return }
        guard !last.withLock({ $0.isSame(as: snapshot) }) else { return }
        last.withLock { $0 = snapshot }
        store.note(pairsOf: snapshot.cookies(made: store.now()).cookies)
    }
}

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

    /// Removes the cookies of the site of a URL, as a response from there demands.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - head: The head of the response, whose own cookies Foundation may have stored before.
    func clear(siteOf url: URL, keepingThoseOf head: ResponseHead) {
        guard let storage, let stored = storage.cookies, !stored.isEmpty else { return }
        let value = head.rawValue(forHTTPHeaderField: Self.field) ?? ""
        let own = Set(Self.cookies(in: value, for: url).map(CookieName.init))
        let rules = CookieRules()
        for cookie in stored where rules.isCookie(of: cookie.domain, fromSiteOf: url) {
            if !own.contains(CookieName(cookie)) { storage.deleteCookie(cookie) }
        }
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

/// Adds the cookies of a configuration's storage to requests, as its session does for the first request of a task.
///
/// The cookies are chosen for each request (RFC 6265 §5.4): after a redirect, the request still has the field that the
/// session chose for the task, and the redirect may have changed a cookie.
///
/// `@unchecked Sendable`: the storage may be used from any thread, though its type does not declare it.
struct CookieField: @unchecked Sendable {
    private let storage: HTTPCookieStorage?

    init(_ configuration: URLSessionConfiguration) {
        storage = configuration.httpShouldSetCookies ? configuration.httpCookieStorage : nil
    }

    /// Whether no request gets a cookie from the storage at present.
    var isEmpty: Bool { storage?.cookies?.isEmpty ?? true }

    /// The request with the storage's cookies for its URL; the field remains as it is if the storage has none.
    func adding(to request: URLRequest) -> URLRequest {
        guard let storage, request.httpShouldHandleCookies, let url = request.url,
            let cookies = storage.cookies(for: url), !cookies.isEmpty,
            let field = HTTPCookie.requestHeaderFields(with: cookies)["Cookie"]
        else { return request }
        var request = request
        request.setValue(field, forHTTPHeaderField: "Cookie")
        return request
    }
}

/// Documents of no site (RFC 6761 §6.4), for requests that a page of another site causes.
///
/// A client that does not know the page sets one of them as the main document of its request.
package enum CrossSite {
    /// The user follows a link of the page: the request carries cookies with `SameSite=Lax` (RFC 6265bis §5.2).
    package static let link = URL(string: "https://elsewhere.invalid/link")
    /// The page asks for the resource itself.
    package static let page = URL(string: "https://elsewhere.invalid/")
}

/// The requests that are being passed to the network, so that a log-out can wait for those that began before it.
struct Sends {
    /// The group that a request enters before it is passed on, and leaves afterwards.
    private(set) var current = DispatchGroup()

    /// Gives later requests another group, so that they do not keep a log-out waiting.
    ///
    /// - Returns: The group that is empty once all earlier requests have been passed on.
    mutating func end() -> DispatchGroup {
        let earlier = current
        current = DispatchGroup()
        // The log-out of another login waits for these requests too.
        current.enter()
        earlier.notify(queue: .global()) { [current] in current.leave() }
        return earlier
    }
}

/// A second place that holds the store's cookies, such as the cookie storage of a web view.
///
/// A store and its storages are kept in step in both directions. The store calls a storage one call at a time, each
/// after the end of the one before. This also holds if several interceptors share the store and the storage, provided
/// that the storage is a class: each use of a struct counts as another storage.
///
/// If a storage does not answer within ``Interceptor/Configuration/storageTimeout``, an event names it, and loads
/// continue without it until it answers. If a call fails, an event reports the error, and the next sync repeats the
/// change.
public protocol CookieStorage: Sendable {
    /// The name of the storage in events.
    var name: String { get }
    /// All of its cookies.
    func cookies() async throws -> [Cookie]
    /// Adds a cookie, replacing the one with the same identity.
    func set(_ cookie: Cookie) async throws
    /// Removes the cookie with this identity; does nothing if the storage does not have it.
    func remove(_ id: Cookie.ID) async throws
}
