import Synchronization
import WaystationCaching

/// The invalidations that happened while responses were on their way.
///
/// A response that was requested before an invalidation shows the origin's state before it, however late it arrives
/// (RFC 9111 §4.4). The log counts invalidations instead of time: each one gets a number higher than the last. A load
/// records the number when it begins (``StoreMoment``); its response is refused if an invalidation with a higher number
/// concerns its key.
final class InvalidationLog: Sendable {
    /// When there are more scopes than this, they are replaced by one scope that covers everything, so that a load that
    /// never ends cannot make the log grow without limit.
    static let maximumScopes = 1_024

    private struct State {
        var count = 0
        /// The number of each scope's last invalidation, as far as a running load began before it.
        var scopes: [ResponseScope: Int] = [:]
        /// How many running loads began at each count.
        var moments: [Int: Int] = [:]
    }

    private let state = Mutex(State())

    /// Records an invalidation.
    func append(_ scope: ResponseScope) {
        state.withLock { state in
            state.count += 1
            guard !state.moments.isEmpty else { return }
            if state.scopes.count >= Self.maximumScopes, state.scopes[scope] == nil {
                state.scopes = [.all: state.count]
            }
            state.scopes[scope] = state.count
        }
    }

    /// Begins a load, and returns the current count.
    func enter() -> Int {
        state.withLock { state in
            state.moments[state.count, default: 0] += 1
            return state.count
        }
    }

    /// Ends a load that began at a count.
    func leave(_ moment: Int) {
        state.withLock { state in
            guard let count = state.moments[moment] else { return }
            state.moments[moment] = count > 1 ? count - 1 : nil
            if state.moments.isEmpty { state.scopes = [:] }
        }
    }

    /// Whether a key was invalidated after a count.
    func hasInvalidated(_ key: RequestKey, since moment: Int) -> Bool {
        state.withLock { state in
            state.count > moment && state.scopes.contains { $1 > moment && $0.contains(key) }
        }
    }
}

/// A point in the order of a store's invalidations.
///
/// Take one with ``ResponseStore/moment()`` when a request is sent, and pass it to ``ResponseStore/begin(_:asOf:)``
/// when the response arrives: a response that was invalidated in between is not stored then. A moment costs little, but
/// as long as it exists, the store remembers all later invalidations.
public final class StoreMoment: Sendable {
    let count: Int
    private let log: InvalidationLog

    init(_ log: InvalidationLog) {
        self.log = log
        count = log.enter()
    }

    deinit { log.leave(count) }
}
