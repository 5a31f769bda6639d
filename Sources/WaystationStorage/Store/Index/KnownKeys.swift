import CWaystation.SQLite
import Synchronization
import WaystationHTTP

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

/// A hash of a key.
struct KeyHash: Sendable {
    let value: UInt64

    init(_ key: RequestKey) {
        var hash: UInt64 = 0
        for text in [key.url, key.method, key.partition] {
            var text = text
            hash = text.withUTF8 { XXH64.of(UnsafeRawBufferPointer($0), seed: hash) }
        }
        value = hash
    }

    /// The hash of the key in the first three columns of a row: its URL, its method and its partition.
    init(_ row: Row) {
        value = (0..<3).reduce(0) { hash, column in
            row.withBytes(CInt(column)) { XXH64.of($0, seed: hash) } ?? hash
        }
    }
}

/// A Bloom filter of keys: it may contain a key that was never inserted, and always contains one that was.
struct KeyFilter: Sendable {
    /// With 16 bits a key and four bits set, 1 of 400 absent keys seems to be present.
    private static let bitsPerKey = 16
    private static let bitsSet = 4
    private static let smallest = 4_096
    /// 8 MiB; with more than four million keys, more absent keys seem to be present.
    private static let largest = 1 << 22

    private let capacity: Int
    private var count = 0
    private var words: [UInt64]

    /// Makes an empty filter for about this number of keys.
    init(capacity: Int) {
        var rounded = Self.smallest
        while rounded < min(capacity, Self.largest) { rounded *= 2 }
        self.capacity = rounded
        words = Array(repeating: 0, count: rounded * Self.bitsPerKey / 64)
    }

    /// Whether there are more keys than the filter was made for; a filter of the largest size never says so.
    var isCrowded: Bool { count > capacity && capacity < Self.largest }

    mutating func insert(_ hash: KeyHash) {
        count += 1
        for bit in bits(of: hash) { words[bit / 64] |= 1 << UInt64(bit % 64) }
    }

    func contains(_ hash: KeyHash) -> Bool {
        bits(of: hash).allSatisfy { words[$0 / 64] & 1 << UInt64($0 % 64) != 0 }
    }

    private func bits(of hash: KeyHash) -> some Sequence<Int> {
        // The number of bits is a power of two. The second half is odd, so the places differ.
        let mask = UInt64(words.count * 64 - 1)
        let (first, step) = (hash.value & 0xFFFF_FFFF, hash.value >> 32 | 1)
        return (0..<UInt64(Self.bitsSet)).lazy.map { Int((first &+ $0 &* step) & mask) }
    }
}

/// A state of an index, which every commit of every process changes.
struct IndexState: Equatable, Sendable {
    private let state: waystation_sqlite_log_state

    /// Whether this state is that of an index after one commit.
    func isNext(after earlier: IndexState) -> Bool { state.commits == earlier.state.commits &+ 1 }

    /// Whether nothing was committed between an earlier state and this one.
    func hasNoCommit(after earlier: IndexState) -> Bool { state.commits == earlier.state.commits }

    static func == (left: IndexState, right: IndexState) -> Bool { left.state.words == right.state.words }

    /// Reads the present state of an index without a query: SQLite keeps it in memory that all processes share.
    ///
    /// `@unchecked Sendable`: reading the place is safe on any thread while its connection is open.
    struct Place: @unchecked Sendable {
        private let start: UnsafeRawPointer

        /// Finds the place of a connection's database; `nil` if the database has no log.
        ///
        /// Call it on the connection's queue. The place must not be read once the connection is closed.
        init?(_ connection: OpaquePointer?) {
            guard let start = waystation_sqlite_log_index(connection) else { return nil }
            self.start = start
        }

        /// The present state; `nil` while a commit writes it.
        var state: IndexState? {
            var state = waystation_sqlite_log_state()
            return waystation_sqlite_read_log_state(start, &state) ? IndexState(state: state) : nil
        }
    }
}
