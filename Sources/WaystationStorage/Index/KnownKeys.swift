import Synchronization
import WaystationCaching

/// The keys that an index may hold, so that a miss needs no query.
///
/// It is a Bloom filter. A key of which not all bits are set is certainly not in the index, as long as the filter covers
/// the index's present state: SQLite keeps that state in memory that all processes share, so a commit of any process is
/// seen at once, without a query. Until the filter was brought up to date after a commit of another process, it knows
/// nothing. A removed key keeps its bits until the filter is made again.
final class KnownKeys: Sendable {
    enum Answer: Sendable {
        /// The key is certainly not in the index.
        case absent
        /// The key may be in the index.
        case mayBePresent
        /// The filter does not cover the index's present state, but can be brought up to date.
        case outdated
        /// The states of the index cannot be told apart.
        case unknowable
    }

    private struct State {
        var place: IndexState.Place?
        var filter = KeyFilter(capacity: 0)
        /// The state of the index whose keys are all in the filter; `nil` before the filter is made.
        var covered: IndexState?
        /// The highest identifier of a row whose key is in the filter.
        ///
        /// SQLite never gives the identifier of a committed row to a second one, and the key of a row never changes.
        var newest: Int64 = 0
        /// The highest identifier of a row that the present transaction has added.
        var added: Int64 = 0
    }

    private let state: Mutex<State>

    /// Makes an empty filter, which knows nothing until it is updated.
    ///
    /// - Parameter place: The place of the index's state; `nil` if it has none.
    init(_ place: IndexState.Place?) { state = Mutex(State(place: place)) }

    /// Whether a key is in the index.
    func answer(_ key: RequestKey) -> Answer {
        let hash = KeyHash(key)
        return state.withLock { state in
            guard let place = state.place else { return .unknowable }
            guard let covered = state.covered, place.state == covered else { return .outdated }
            return state.filter.contains(hash) ? .mayBePresent : .absent
        }
    }

    /// The present state of the index.
    var present: IndexState? { state.withLock { $0.place?.state } }

    /// Whether so many keys were added that the filter should be made again.
    var isCrowded: Bool { state.withLock { $0.covered != nil && $0.filter.isCrowded } }

    // MARK: - Changes of this process

    /// Records that a transaction has begun, so that no other process commits.
    ///
    /// - Returns: The present state of the index; `nil` if it is not known.
    func begin() -> IndexState? {
        state.withLock { state in
            // The identifiers of a transaction that was undone are given to other rows.
            state.added = 0
            return state.place?.state
        }
    }

    /// Adds the key of a row, before its transaction is committed.
    func insert(_ key: RequestKey, row: Int64) {
        let hash = KeyHash(key)
        state.withLock { state in
            state.filter.insert(hash)
            state.added = max(state.added, row)
        }
    }

    /// Records that a transaction was committed, whose keys were all added before.
    ///
    /// - Parameter before: The state of the index at the begin of the transaction.
    func committed(after before: IndexState?) {
        state.withLock { state in
            guard let before, state.covered == before, let present = state.place?.state else { return }
            // If another process has committed as well, the keys of that commit are missing.
            guard present == before || present.isNext(after: before) else { return }
            state.covered = present
            state.newest = max(state.newest, state.added)
        }
    }

    /// Records that the log was made empty, which changes the index's state without a commit.
    ///
    /// - Parameter before: The state of the index before that.
    func logWasEmptied(after before: IndexState?) {
        state.withLock { state in
            guard let before, state.covered == before, let present = state.place?.state,
                present.hasNoCommit(after: before)
            else { return }
            state.covered = present
        }
    }

    // MARK: - Updates

    /// The rows whose keys are missing.
    enum Missing: Sendable {
        case all
        case newer(than: Int64)
    }

    /// The rows whose keys must be read; `nil` if the filter is up to date, or can never be.
    var missing: Missing? {
        state.withLock { state in
            guard let place = state.place else { return nil }
            guard let covered = state.covered, !state.filter.isCrowded else { return .all }
            return place.state == covered ? nil : .newer(than: state.newest)
        }
    }

    /// Adds the keys that were missing in a state of the index.
    ///
    /// - Parameters:
    ///   - hashes: The keys of the missing rows.
    ///   - newest: The highest identifier of the missing rows; 0 if no row was missing.
    ///   - missing: The rows that were read.
    ///   - covered: The state of the index in which they were read.
    func update(_ hashes: [KeyHash], newest: Int64, _ missing: Missing, in covered: IndexState) {
        state.withLock { state in
            if case .all = missing { state.filter = KeyFilter(capacity: hashes.count * 2) }
            for hash in hashes { state.filter.insert(hash) }
            state.newest = max(state.newest, newest)
            state.covered = covered
        }
    }

    /// Forgets the place of the index's state, before its connection is closed.
    func close() { state.withLock { $0.place = nil } }
}
