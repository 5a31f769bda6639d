import Foundation
import WaystationCookies

/// What is known of a storage's content, so that what its owner changed can be told from what was written to it.
///
/// A state machine without side effects. The storage says nothing by itself: it is looked at, and compared.
struct StorageMirror {
    /// What somebody else did to the storage since the last look.
    enum Difference: Equatable {
        case put(Cookie)
        case removed(Cookie.ID)
    }

    private var known: [Cookie.ID: Cookie] = [:]
    private var writing: Set<Cookie.ID> = []
    /// When each cookie was written last: a look that began before says nothing about it.
    private var written: [Cookie.ID: UInt64] = [:]
    /// Counts the writes; to be read before the storage is.
    private(set) var version: UInt64 = 0

    /// What the storage held when the version was read.
    mutating func look(at cookies: [Cookie], asOf version: UInt64) -> [Difference] {
        var found: [Cookie.ID: Cookie] = [:]
        for cookie in cookies { found[cookie.id] = cookie }
        var differences: [Difference] = []
        for cookie in cookies where isCurrent(cookie.id, version) {
            if let old = known[cookie.id], old.holdsTheSame(as: cookie) { continue }
            known[cookie.id] = cookie
            differences.append(.put(cookie))
        }
        for id in known.keys where found[id] == nil && isCurrent(id, version) {
            known[id] = nil
            differences.append(.removed(id))
        }
        return differences
    }

    private func isCurrent(_ id: Cookie.ID, _ version: UInt64) -> Bool {
        !writing.contains(id) && (written[id] ?? 0) <= version
    }

    /// Whether the storage has a cookie as it should be.
    func holds(_ cookie: Cookie) -> Bool { known[cookie.id]?.holdsTheSame(as: cookie) ?? false }

    /// Whether the storage has a cookie of an identity.
    func contains(_ id: Cookie.ID) -> Bool { known[id] != nil }

    mutating func beginWriting(_ ids: some Sequence<Cookie.ID>) {
        version += 1
        writing.formUnion(ids)
    }

    /// What the storage holds after the write: it may have refused something, which is nobody's removal.
    mutating func endWriting(_ ids: some Sequence<Cookie.ID>, holding cookies: [Cookie]) {
        version += 1
        for id in ids {
            writing.remove(id)
            known[id] = nil
            written[id] = version
        }
        for cookie in cookies where written[cookie.id] == version { known[cookie.id] = cookie }
        // Versions that no look can have begun before any more are of no use.
        if written.count > 4_096 { written = written.filter { $0.value == version } }
    }
}

extension Cookie {
    /// Whether two cookies of an identity say the same, as far as a storage can keep it.
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
