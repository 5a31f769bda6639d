#if Gateway
import NIOCore
import Synchronization
import Waystation
import WaystationStorage

/// The requests that were answered at once, as they arrived, with their responses as they are sent.
///
/// A browser that asks for a page again sends the same bytes again. To parse them, to check them and to translate the
/// response costs several times as much as to ask the stations of the load.
final class RepeatedRequests: Sendable {
    /// One request and its response.
    struct Entry: Sendable {
        let load: AnsweredLoad
        /// Head and body.
        let response: ByteBuffer
    }

    /// The longest request that is remembered, in bytes.
    static let requestLimit = 8 << 10
    /// The longest response that is remembered, in bytes.
    static let responseLimit = 256 << 10
    /// The number of bytes of all requests and responses together.
    static let limit = 8 << 20

    struct Key: Hashable, Sendable {
        let request: ByteBuffer
        /// The origin of the connection over TLS on which the request arrived; nil without TLS.
        let origin: OriginName?
    }

    private let entries = Mutex(LeastRecentlyUsed<Key, Entry>())

    /// The entry of a request.
    func entry(of key: Key) -> Entry? {
        entries.withLock { entries -> Entry? in
            guard let position = entries.position(of: key) else { return nil }
            entries.use(position)
            return entries[position]
        }
    }

    /// Adds an entry, unless it is too long; the oldest ones go when there are too many bytes.
    func add(_ entry: Entry, for key: Key) {
        let cost = key.request.readableBytes + entry.response.readableBytes
        guard key.request.readableBytes <= Self.requestLimit, entry.response.readableBytes <= Self.responseLimit else {
            return
        }
        entries.withLock { entries in
            entries.insert(entry, for: key, cost: cost)
            while entries.cost > Self.limit { entries.removeOldest() }
        }
    }

    /// Removes an entry whose response is no longer the answer.
    func remove(_ key: Key) {
        _ = entries.withLock { $0.remove(key) }
    }
}
#endif
