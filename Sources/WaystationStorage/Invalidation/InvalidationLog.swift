import Synchronization

/// Which responses were invalidated while others were on their way.
///
/// A response that was asked for before an invalidation says what the origin held before it, however late it arrives
/// (RFC 9111 §4.4). Time is counted in invalidations: each is a number higher than the last. A load notes the number
/// when it begins (``StoreMoment``); its response is refused if an invalidation with a higher one concerns its key.
final class InvalidationLog: Sendable {
    /// More scopes than this are held as one that concerns everything, so that a load that never ends cannot make
    /// the log grow for ever.
    static let maximumScopes = 1_024

    private struct State {
        var count = 0
        /// The last invalidation of each scope that someone on his way may have missed.
        var scopes: [ResponseScope: Int] = [:]
        /// How many loads began at which count.
        var moments: [Int: Int] = [:]
    }

    private let state = Mutex(State())

    /// Notes an invalidation.
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

    /// Begins a load, and tells when that was.
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
