import HTTPTypes
import Synchronization
import WaystationCaching
import WaystationCollections

/// The heads of rows that were read before: reading such a row again decodes its body only.
///
/// An identifier and a seal mean the same head for as long as the index exists, and the seal of a row is checked each
/// time that it is read. So no head is ever outdated, whatever changes in the index. With the head, a look-up also gets
/// what its callers derived from it before.
final class KnownHeads: Sendable {
    /// A head, and the values that belong to it.
    struct Known: Sendable {
        let head: StoredHead
        let checksums: BlockChecksums
        let prepared: PreparedValue
    }

    private struct Identity: Hashable, Sendable {
        let id: Int64
        let seal: UInt64
    }

    private let limit: Int
    /// The cost of a head is its memory, in bytes.
    private let heads = Mutex(LeastRecentlyUsed<Identity, Known>())

    /// - Parameter limit: The memory for all heads, in bytes.
    init(limit: Int = 4 << 20) { self.limit = limit }

    /// The head of a row, if it is known.
    func head(id: Int64, seal: UInt64) -> Known? {
        heads.withLock { heads in
            guard let position = heads.position(of: Identity(id: id, seal: seal)) else { return nil }
            heads.use(position)
            return heads[position]
        }
    }

    /// Keeps the head of a row that was read.
    func keep(_ known: Known, id: Int64, seal: UInt64) {
        let departed = heads.withLock { heads -> [Known?] in
            var departed = [heads.insert(known, for: Identity(id: id, seal: seal), cost: known.size)]
            while heads.cost > limit { departed.append(heads.removeOldest()) }
            return departed
        }
        // The last reference to a caller's object is released outside this lock.
        withExtendedLifetime(departed) {}
    }

    /// Drops all heads, so that those of removed responses do not stay in memory.
    func removeAll() {
        let departed = heads.withLock { $0.removeAll() }
        withExtendedLifetime(departed) {}
    }

    /// The number of heads in memory.
    var count: Int { heads.withLock(\.count) }
}

extension KnownHeads.Known {
    /// The approximate memory of the head, as much again for what a caller makes of it, and the checksums.
    fileprivate var size: Int { 2 * head.memory + checksums.values.count * 8 }
}

extension StoredHead {
    /// The approximate memory of the head, in bytes: the URL, the names and values of fields, and the objects around
    /// them.
    var memory: Int {
        let fields = headerFields.reduce(0) { size, field in
            size + 96 + field.name.rawName.utf8.count + field.withUnsafeBytesOfValue { $0.count }
        }
        let nominees = vary.nominees.reduce(0) { $0 + 96 + ($1.value?.utf8.count ?? 0) }
        return key.url.utf8.count + 512 + fields + nominees
    }
}
