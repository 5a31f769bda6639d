import Dispatch
import Foundation
import FoundationNetworking
import WaystationCookies

/// The cookie storage of a session's configuration.
///
/// Foundation reads it when it makes a task, and for loads that are its own. It posts no notification on Linux.
final class FoundationCookieStorage: CookieStorage {
    let name = "HTTPCookieStorage"
    let storage: HTTPCookieStorage
    private let now: @Sendable () -> Date
    /// Where it is changed: that writes a file, when the storage is one that lasts.
    private static let queue = DispatchQueue(label: "waystation.cookies.storage")

    init(_ storage: HTTPCookieStorage, now: @escaping @Sendable () -> Date) {
        self.storage = storage
        self.now = now
    }

    func cookies() -> [Cookie] { snapshot.cookies(made: now()).cookies }

    /// What it holds, in its own terms: the same objects as long as nothing changes.
    var snapshot: Snapshot { Snapshot(cookies: storage.cookies ?? []) }

    /// What a storage held.
    struct Snapshot: @unchecked Sendable {
        // `@unchecked`: these objects never change.
        fileprivate var cookies: [HTTPCookie] = []

        /// Whether the storage held the very same; as cheap as the list is short.
        func isSame(as other: Snapshot) -> Bool {
            cookies.count == other.cookies.count && zip(cookies, other.cookies).allSatisfy { $0 === $1 }
        }

        /// Those that are cookies, and why others are none unless they were in another snapshot already.
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

    func set(_ cookie: Cookie) async {
        await change { storage in
            if let cookie = HTTPCookie(cookie) { storage.setCookie(cookie) }
        }
    }

    func remove(_ id: Cookie.ID) async {
        let domain = id.isHostOnly ? id.domain : ".\(id.domain)"
        await change { storage in
            for cookie in storage.cookies ?? []
            where cookie.name == id.name && cookie.path == id.path && cookie.domain.lowercased() == domain {
                storage.deleteCookie(cookie)
            }
        }
    }

    private func change(_ body: @escaping @Sendable (HTTPCookieStorage) -> Void) async {
        await withCheckedContinuation { continuation in
            Self.queue.async { [storage] in
                body(storage)
                continuation.resume()
            }
        }
    }
}

extension Cookie {
    /// What an app put into Foundation's storage, if it is a cookie.
    ///
    /// A domain without a leading dot is a host alone, as Foundation's storage takes it.
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
    /// The same in Foundation's terms; `SameSite` is lost, which it does not know.
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
