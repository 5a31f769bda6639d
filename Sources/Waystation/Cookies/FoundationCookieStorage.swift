import Dispatch
import Foundation
import WaystationFoundation
import WaystationHTTP

/// The known content of a storage, which distinguishes changes that others made from the store's own writes.
///
/// This type is a state machine without side effects. The storage reports no changes, so its content is read and
/// compared.
struct StorageMirror {
    /// A change that others made in the storage since the last look.
    enum Difference: Equatable {
        case put(Cookie)
        case removed(Cookie.ID)
    }

    /// A write of one cookie to the storage, and its result.
    struct Write {
        let id: Cookie.ID
        /// The cookie; nil if it was removed.
        let cookie: Cookie?
        /// Whether the storage reported an error.
        var hasFailed = false
        /// Whether the storage is known to have had the cookie right after the write.
        var wasKept = false
    }

    private var known: [Cookie.ID: Cookie] = [:]
    private var writing: Set<Cookie.ID> = []
    /// The version at which each cookie was last written: a look that began before that says nothing about the cookie.
    private var written: [Cookie.ID: UInt64] = [:]
    /// The number of writes; read it before reading the storage.
    private(set) var version: UInt64 = 0
    /// The cookies that the last look left out.
    private(set) var undecided: Set<Cookie.ID> = []

    /// Compares the cookies that the storage held when the version was read with the known ones.
    ///
    /// - Parameters:
    ///   - cookies: The cookies of the storage.
    ///   - version: The version that was read before them.
    ///   - isUndecided: Whether the change of a cookie, or its removal, is left to a later look.
    /// - Returns: The changes, without those of undecided cookies.
    mutating func look(
        at cookies: [Cookie],
        asOf version: UInt64,
        leavingOut isUndecided: (_ id: Cookie.ID, _ isRemoval: Bool) -> Bool = { _, _ in false }
    ) -> [Difference] {
        var found: [Cookie.ID: Cookie] = [:]
        for cookie in cookies { found[cookie.id] = cookie }
        var differences: [Difference] = []
        undecided = []
        for cookie in cookies where isCurrent(cookie.id, version) {
            if let old = known[cookie.id], old.holdsTheSame(as: cookie) { continue }
            guard !isUndecided(cookie.id, false) else {
                undecided.insert(cookie.id)
                continue
            }
            known[cookie.id] = cookie
            differences.append(.put(cookie))
        }
        for id in known.keys where found[id] == nil && isCurrent(id, version) {
            guard !isUndecided(id, true) else {
                undecided.insert(id)
                continue
            }
            known[id] = nil
            differences.append(.removed(id))
        }
        return differences
    }

    /// Records the cookies of the storage that have certain identities, so that no look reports what has changed there.
    ///
    /// - Returns: The identities of the cookies that the storage has now, or had before.
    mutating func recognize(_ cookies: [Cookie], among isMeant: (Cookie.ID) -> Bool) -> Set<Cookie.ID> {
        let before = known.keys.filter(isMeant)
        for id in before { known[id] = nil }
        let present = cookies.filter { isMeant($0.id) }
        for cookie in present { known[cookie.id] = cookie }
        return Set(before).union(present.map(\.id))
    }

    private func isCurrent(_ id: Cookie.ID, _ version: UInt64) -> Bool {
        !writing.contains(id) && (written[id] ?? 0) <= version
    }

    /// Whether the storage has this cookie with the same content.
    func holds(_ cookie: Cookie) -> Bool { known[cookie.id]?.holdsTheSame(as: cookie) ?? false }

    /// Whether the storage has a cookie with this identity.
    func contains(_ id: Cookie.ID) -> Bool { known[id] != nil }

    mutating func beginWriting(_ ids: some Sequence<Cookie.ID>) {
        version += 1
        writing.formUnion(ids)
    }

    /// Records the content of the storage after writes.
    ///
    /// The storage may have refused a cookie; that is not a removal by others. But a cookie that others changed or
    /// removed during the writes counts as unknown, so that the next look reports it.
    ///
    /// - Parameters:
    ///   - writes: The cookies that were written.
    ///   - cookies: The cookies that the storage has now; nil if it could not be read.
    mutating func endWriting(_ writes: [Write], holding cookies: [Cookie]?) {
        version += 1
        var found: [Cookie.ID: Cookie] = [:]
        for cookie in cookies ?? [] { found[cookie.id] = cookie }
        for write in writes {
            writing.remove(write.id)
            written[write.id] = version
            if cookies == nil {
                if !write.hasFailed { known[write.id] = write.cookie }
            } else if let held = found[write.id] {
                // A storage may keep other attributes than it was given, but not another value.
                let isOwn = write.cookie?.value == held.value || known[write.id]?.holdsTheSame(as: held) ?? false
                if isOwn { known[write.id] = held }
            } else {
                known[write.id] = write.wasKept ? write.cookie : nil
            }
        }
        // Versions before this one are useless, because no look that began earlier can still be running.
        if written.count > 4_096 { written = written.filter { $0.value == version } }
    }
}

extension Cookie {
    /// Whether two cookies with the same identity have the same content, as far as a storage can keep it.
    func holdsTheSame(as other: Cookie) -> Bool {
        value == other.value && isSecure == other.isSecure && endsWith(other)
    }

    /// Storages keep whole seconds.
    private func endsWith(_ other: Cookie) -> Bool {
        switch (expires, other.expires) {
        case (nil, nil): true
        case (let one?, let two?): abs(one.timeIntervalSince(two)) < 1.5
        default: false
        }
    }
}

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
