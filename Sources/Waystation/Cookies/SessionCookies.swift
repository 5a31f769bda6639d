import Foundation
import Synchronization
import WaystationCookies

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
                return CookiePairs.name(of: pair).trimmingCharacters(in: .whitespaces)
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
