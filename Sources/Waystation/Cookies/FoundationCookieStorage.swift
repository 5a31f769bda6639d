import Dispatch
import WaystationFoundation
import WaystationHTTP

/// The cookie storage of a session's configuration.
///
/// Foundation reads it when it makes a task, and for loads that it runs itself. It posts no notification on Linux.
final class FoundationCookieStorage: CookieStorage {
    let name = "HTTPCookieStorage"
    /// The storage; nil when it is gone, as that of an ephemeral configuration is after its sessions.
    weak let storage: HTTPCookieStorage?
    private let now: @Sendable () -> Date
    /// The queue for changes: a change of a persistent storage writes a file.
    private static let queue = DispatchQueue(label: "waystation.cookies.storage")

    init(_ storage: HTTPCookieStorage, now: @escaping @Sendable () -> Date) {
        self.storage = storage
        self.now = now
    }

    func cookies() -> [Cookie] { snapshot?.cookies(made: now()).cookies ?? [] }

    /// The storage's content as Foundation's objects, which stay the same objects until something changes; nil when the
    /// storage is gone.
    var snapshot: Snapshot? { storage.map { Snapshot(cookies: $0.cookies ?? []) } }

    /// The content of a storage at one moment.
    struct Snapshot: @unchecked Sendable {
        // `@unchecked`: these objects never change.
        fileprivate var cookies: [HTTPCookie] = []

        /// Whether both snapshots hold identical objects; takes time proportional to the number of cookies.
        func isSame(as other: Snapshot) -> Bool {
            cookies.count == other.cookies.count && zip(cookies, other.cookies).allSatisfy { $0 === $1 }
        }

        /// The valid cookies, and the errors of the others, except those that were already in the other snapshot.
        func cookies(made now: Date, after other: Snapshot = Snapshot()) -> (cookies: [Cookie], refused: [CookieError])
        {
            let known = Set(other.cookies.map(ObjectIdentifier.init))
            var taken: [Cookie] = []
            var refused: [CookieError] = []
            for cookie in cookies {
                do throws(CookieError) {
                    taken.append(try Cookie(cookie, now))
                } catch {
                    if !known.contains(ObjectIdentifier(cookie)) { refused.append(error) }
                }
            }
            return (taken, refused)
        }
    }

    func set(_ cookie: Cookie) async { _ = await put(cookie) }

    /// Adds a cookie, and returns whether the storage has kept it.
    func put(_ cookie: Cookie) async -> Bool {
        await change { storage in
            guard let made = HTTPCookie(cookie) else { return false }
            storage.setCookie(made)
            return !Self.cookies(cookie.id, in: storage).isEmpty
        }
    }

    func remove(_ id: Cookie.ID) async {
        await change { storage in
            for cookie in Self.cookies(id, in: storage) { storage.deleteCookie(cookie) }
            return true
        }
    }

    /// The cookies with an identity: one at most, unless they differ in the case of their domain.
    private static func cookies(_ id: Cookie.ID, in storage: HTTPCookieStorage) -> [HTTPCookie] {
        let domain = id.isHostOnly ? id.domain : ".\(id.domain)"
        return (storage.cookies ?? []).filter {
            $0.name == id.name && $0.path == id.path && $0.domain.lowercased() == domain
        }
    }

    /// Changes the storage; returns false if it is gone.
    @discardableResult
    private func change(_ body: @escaping @Sendable (HTTPCookieStorage) -> Bool) async -> Bool {
        await withCheckedContinuation { continuation in
            Self.queue.async { [storage] in
                continuation.resume(returning: storage.map(body) ?? false)
            }
        }
    }
}

extension Cookie {
    /// Makes a cookie from one that an app put into Foundation's storage; throws if it is not valid.
    ///
    /// A domain without a leading dot is host-only, as Foundation's storage treats it.
    fileprivate init(_ cookie: HTTPCookie, _ now: Date) throws(CookieError) {
        try self.init(
            name: cookie.name,
            value: cookie.value,
            domain: cookie.domain,
            isHostOnly: !cookie.domain.hasPrefix("."),
            path: cookie.path.hasPrefix("/") ? cookie.path : "/",
            expires: cookie.expiresDate,
            isSecure: cookie.isSecure,
            isHTTPOnly: cookie.isHTTPOnly,
            creation: now
        )
    }
}

extension HTTPCookie {
    /// The cookie as a Foundation object; `SameSite` is lost, because Foundation does not support it.
    fileprivate convenience init?(_ cookie: Cookie) {
        var properties: [HTTPCookiePropertyKey: Any] = [
            .name: cookie.name,
            .value: cookie.value,
            .domain: cookie.isHostOnly ? cookie.domain : ".\(cookie.domain)",
            .path: cookie.path,
        ]
        if let expires = cookie.expires { properties[.expires] = expires }
        if cookie.isSecure { properties[.secure] = "TRUE" }
        if cookie.isHTTPOnly { properties[HTTPCookiePropertyKey("HttpOnly")] = "TRUE" }
        self.init(properties: properties)
    }
}
