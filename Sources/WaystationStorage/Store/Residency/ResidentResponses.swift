import Foundation
import HTTPTypes
import Synchronization
import WaystationHTTP

/// Responses kept in memory after a look-up, limited in bytes; the least recently used are removed first.
///
/// **How answers from memory stay correct.** A change that this process makes removes its keys (``invalidate(_:)``), or
/// inserts an instance with the new fields (``beginFreshening(_:)``). Because other processes may change the index too,
/// an answer is valid only for a second after it was confirmed: by its own look-up, or by a check that found no change
/// (``confirm(at:hasChanged:)``). When such a check finds a change, all entries become unconfirmed (`epoch`); the next
/// look-up of each reads its rows again and keeps the instances whose rows are unchanged.
///
/// **How look-ups avoid restoring removed responses.** A look-up records its key before it reads
/// (``beginReading(_:)``); if an invalidation of that key comes before it ends, its result is not kept.
final class ResidentResponses: Sendable {
    /// How long an answer is valid after it was confirmed, in seconds.
    private static let confirmedFor: TimeInterval = 1
    /// The age of a confirmation, in seconds, at which a check is requested, so that keys in steady use stay confirmed.
    private static let checkAfter: TimeInterval = 0.5
    /// The use of an entry is recorded at most once in this time, in seconds.
    static let useInterval: TimeInterval = 60

    struct Answer {
        var responses: [StoredResponse]?
        var needsCheck = false
        var needsUseNoted = false
    }

    /// The responses of one key.
    fileprivate struct Entry {
        var responses: [StoredResponse]
        var epoch: Int
        var confirmedAt: Date
        var usedAt: Date
    }

    fileprivate struct State {
        /// The cost of an entry is the memory of its responses, in bytes.
        var entries = LeastRecentlyUsed<RequestKey, Entry>()
        var hits = 0
        var epoch = 0
        var confirmedAt = Date.distantPast
        var isCheckRequested = false
        /// The changes that are not made yet.
        var pending = PendingChanges()
        /// Keys whose rows are to get new fields that memory has already; for each row, how many such changes are
        /// pending.
        var freshening: [RequestKey: [Int64: Int]] = [:]
        /// The look-ups that are reading, by number.
        var readings: [Int: Reading] = [:]
        var lastReading = 0
    }

    /// A look-up that is reading the rows of a key.
    fileprivate struct Reading {
        let key: RequestKey
        /// The epoch in which it began: reading may take long, and a check may find a change meanwhile.
        let epoch: Int
        /// Whether the responses of the key have changed since the look-up began.
        var isStale = false
    }

    private let limit: Int
    private let state = Mutex(State())

    init(limit: ByteCount) { self.limit = limit.bytes }

    /// The responses of a key, if they are in memory and confirmed.
    func responses(for key: RequestKey, at time: Date) -> Answer {
        state.withLock { state in
            var answer = Answer()
            guard !state.isSilent(about: key) else { return answer }
            guard let position = state.entries.position(of: key), let entry = state.entries[position] else {
                return answer
            }
            let checked = entry.epoch == state.epoch ? state.confirmedAt : .distantPast
            let age = time.timeIntervalSince(max(checked, entry.confirmedAt))
            // If the clock was set back, the age does not show how long ago the confirmation was.
            let isConfirmed = age >= -Self.confirmedFor && age <= Self.confirmedFor
            if !isConfirmed || age > Self.checkAfter, !state.isCheckRequested {
                state.isCheckRequested = true
                answer.needsCheck = true
            }
            guard isConfirmed else { return answer }
            if abs(time.timeIntervalSince(entry.usedAt)) > Self.useInterval {
                state.entries.update(position) { entry in
                    entry.usedAt = time
                    return 0
                }
                answer.needsUseNoted = true
            }
            state.hits += 1
            state.entries.use(position)
            answer.responses = entry.responses
            return answer
        }
    }

    /// Records that a change of a key was handed over: until it is made, the responses in memory are not current.
    func beginChanging(_ key: RequestKey) {
        state.withLock { $0.pending.begin(key) }
    }

    /// Records that a change was made, or dropped.
    func endChanging(_ key: RequestKey) {
        state.withLock { $0.pending.end(key) }
    }

    /// Replaces the instance of a row that is to get the fields of the new instance.
    ///
    /// Until the row is written, no result of a look-up of its key is kept.
    func beginFreshening(_ response: StoredResponse) {
        let departed = state.withLock { state -> [[StoredResponse]] in
            state.freshening[response.head.key, default: [:]][response.id, default: 0] += 1
            guard let position = state.entries.position(of: response.head.key) else { return [] }
            guard let replaced = state.replace(with: response, at: position) else {
                return [state.remove(response.head.key)].compactMap(\.self)
            }
            return [[replaced]] + state.removeSurplus(over: limit)
        }
        withExtendedLifetime(departed) {}
    }

    /// Records that a row now has the fields of this instance, or that it could not be written.
    func endFreshening(_ response: StoredResponse, isWritten: Bool) {
        let departed = state.withLock { state -> [StoredResponse]? in
            let isLast = state.endFreshening(of: response.id, for: response.head.key)
            // The look-up may have read the row before it was written.
            state.expireReadings { $0 == response.head.key }
            // If two updates of a row came at once, memory may hold the instance of the one that was not written last.
            let present = state.responses(for: response.head.key)
            let isHere = present.contains { $0.id == response.id && $0.seal == response.seal }
            return isWritten && (isHere || !isLast) ? nil : state.remove(response.head.key)
        }
        withExtendedLifetime(departed) {}
    }

    /// Whether a change of a key was handed over and is not yet made.
    func isChanging(_ key: RequestKey) -> Bool {
        state.withLock { $0.freshening[key] != nil || $0.pending.contains(key) }
    }

    /// Whether the rows of a key show what is stored: no change of it is pending, and no removal of it has failed.
    func isSettled(_ key: RequestKey) -> Bool {
        state.withLock { $0.freshening[key] == nil && !$0.isSilent(about: key) }
    }

    /// Records that the removal of all keys in a scope was handed over.
    func beginRemoving(_ scope: ResponseScope) {
        state.withLock { $0.pending.begin(scope) }
    }

    /// Records that the removal of a scope was made, or has failed.
    func endRemoving(_ scope: ResponseScope, hasFailed: Bool) {
        // Some of the rows may have been removed, and the error does not say of which keys.
        if hasFailed { invalidateAll() }
        state.withLock { $0.pending.end(scope, hasFailed: hasFailed) }
    }

    /// The scopes whose removal has failed.
    var failedRemovals: Set<ResponseScope> { state.withLock { $0.pending.failedRemovals } }

    /// Whether the rows of a key are left over from a removal that has failed.
    func hasFailedToRemove(_ key: RequestKey) -> Bool { state.withLock { $0.pending.hasFailedToRemove(key) } }

    /// Records that a removal that had failed before has succeeded.
    func didRemove(_ scope: ResponseScope) { state.withLock { $0.pending.didRemove(scope) } }

    /// Records which key is about to be read from disk.
    ///
    /// - Returns: The number of the reading, which ends with ``keep(_:for:readAt:by:)`` or ``endReading(_:)``.
    func beginReading(_ key: RequestKey) -> Int {
        state.withLock { state in
            state.lastReading += 1
            state.readings[state.lastReading] = Reading(key: key, epoch: state.epoch)
            return state.lastReading
        }
    }

    /// Ends a reading that has no result.
    func endReading(_ reading: Int) {
        state.withLock { $0.readings[reading] = nil }
    }

    /// The instance of a response that is already in memory, confirmed or not.
    func instance(id: Int64, seal: UInt64, for key: RequestKey) -> StoredResponse? {
        state.withLock { state in
            state.responses(for: key).first { $0.id == id && $0.seal == seal }
        }
    }

    /// Keeps the responses that a look-up has read, if they fit and were not changed meanwhile.
    ///
    /// `time` is when the look-up began to read.
    func keep(_ responses: [StoredResponse], for key: RequestKey, readAt time: Date, by reading: Int) {
        // Only responses with bodies in memory are kept: an open file for each entry would use up the process's
        // descriptors.
        let isInMemory = responses.allSatisfy { if case .data = $0.body { true } else { false } }
        let size = limit > 0 ? responses.reduce(0) { $0 + $1.residentSize } : Int.max
        let departed = state.withLock { state -> [[StoredResponse]] in
            guard let reading = state.readings.removeValue(forKey: reading), !reading.isStale,
                state.freshening[key] == nil
            else { return [] }
            let departed = [state.remove(key)].compactMap(\.self)
            guard isInMemory, !responses.isEmpty, size <= limit else { return departed }
            let entry = Entry(responses: responses, epoch: reading.epoch, confirmedAt: time, usedAt: time)
            state.entries.insert(entry, for: key, cost: size)
            return departed + state.removeSurplus(over: limit)
        }
        // A removed instance may be the last reference to an object of the caller's, so it is released outside the
        // lock.
        withExtendedLifetime(departed) {}
    }

    /// Removes the entries of keys that this process has changed.
    func invalidate(_ keys: Set<RequestKey>) {
        let departed = state.withLock { state in
            state.expireReadings(of: keys.contains)
            return keys.compactMap { state.remove($0) }
        }
        withExtendedLifetime(departed) {}
    }

    /// Removes all entries.
    func invalidateAll() {
        let departed = state.withLock { state in
            state.expireReadings { _ in true }
            return state.entries.removeAll()
        }
        withExtendedLifetime(departed) {}
    }

    /// Ends a check for changes of other processes that began at `time`; `nil` when the check failed.
    func confirm(at time: Date?, hasChanged: Bool) {
        state.withLock { state in
            state.isCheckRequested = false
            if hasChanged { state.epoch += 1 }
            if let time { state.confirmedAt = time }
        }
    }

    /// The number of keys and bytes in memory, and the number of look-ups answered from memory.
    var counts: (entries: Int, bytes: Int, hits: Int) {
        state.withLock { ($0.entries.count, $0.entries.cost, $0.hits) }
    }
}

extension ResidentResponses.State {
    /// Whether memory must not answer for a key, because a change of it is not made yet.
    fileprivate func isSilent(about key: RequestKey) -> Bool {
        pending.contains(key) || pending.hasFailedToRemove(key)
    }

    /// - Returns: Whether no other pending change of the row is left.
    fileprivate mutating func endFreshening(of row: Int64, for key: RequestKey) -> Bool {
        guard var rows = freshening[key] else { return true }
        let left = (rows[row] ?? 0) - 1
        rows[row] = left > 0 ? left : nil
        freshening[key] = rows.isEmpty ? nil : rows
        return left <= 0
    }

    /// The responses of a key that are in memory, confirmed or not.
    fileprivate func responses(for key: RequestKey) -> [StoredResponse] {
        entries.position(of: key).flatMap { entries[$0]?.responses } ?? []
    }

    /// Replaces the instance of the same row by a new one.
    ///
    /// - Returns: The replaced instance; `nil` if no instance was replaced.
    fileprivate mutating func replace(with response: StoredResponse, at position: Int) -> StoredResponse? {
        var replaced: StoredResponse?
        entries.update(position) { entry in
            // An index that was replaced by a new one assigns the same identifiers again.
            let place = entry.responses.firstIndex { $0.id == response.id && $0.checksums == response.checksums }
            guard let place else { return 0 }
            let old = entry.responses[place]
            entry.responses[place] = response
            entry.responses.sort { ($0.head.responseTime, $0.id) > ($1.head.responseTime, $1.id) }
            replaced = old
            return response.residentSize - old.residentSize
        }
        return replaced
    }

    /// Records that the keys that `isChanged` selects have changed: no look-up that is reading them keeps its result.
    fileprivate mutating func expireReadings(of isChanged: (RequestKey) -> Bool) {
        for (number, reading) in readings where isChanged(reading.key) { readings[number]?.isStale = true }
    }

    fileprivate mutating func remove(_ key: RequestKey) -> [StoredResponse]? { entries.remove(key)?.responses }

    fileprivate mutating func removeSurplus(over limit: Int) -> [[StoredResponse]] {
        var departed: [[StoredResponse]] = []
        while entries.cost > limit, let oldest = entries.removeOldest() { departed.append(oldest.responses) }
        return departed
    }
}

extension StoredResponse {
    /// The approximate memory of this instance, in bytes.
    var residentSize: Int { body.length + head.memory }
}

/// The changes of a store that were requested and are not made yet: until they are, memory answers for none of their
/// keys.
struct PendingChanges: Sendable {
    /// When there are more failed removals than this, they are replaced by one of everything.
    private static let maximumFailedRemovals = 1_024

    /// Keys whose changes are handed over, and how many such changes each key has.
    private var keys: [RequestKey: Int] = [:]
    /// Scopes whose removals are handed over, and how many such removals each scope has.
    private var scopes: [ResponseScope: Int] = [:]
    /// The scopes whose removal has failed, and is tried again.
    private(set) var failedRemovals: Set<ResponseScope> = []

    /// Whether a change of a key was handed over and not made.
    func contains(_ key: RequestKey) -> Bool {
        if !keys.isEmpty, keys[key] != nil { return true }
        return !scopes.isEmpty && scopes.keys.contains { $0.contains(key) }
    }

    /// Whether the responses of a key should have been removed, so that what is stored must not be returned.
    func hasFailedToRemove(_ key: RequestKey) -> Bool {
        !failedRemovals.isEmpty && failedRemovals.contains { $0.contains(key) }
    }

    /// Records that a change of a key was handed over.
    mutating func begin(_ key: RequestKey) { keys[key, default: 0] += 1 }

    /// Records that a change of a key was made, or dropped.
    mutating func end(_ key: RequestKey) {
        guard let count = keys[key] else { return }
        keys[key] = count > 1 ? count - 1 : nil
    }

    /// Records that a removal was handed over.
    mutating func begin(_ scope: ResponseScope) { scopes[scope, default: 0] += 1 }

    /// Records that a removal was made, or has failed.
    mutating func end(_ scope: ResponseScope, hasFailed: Bool) {
        if hasFailed { failedRemovals.insert(scope) }
        if failedRemovals.count > Self.maximumFailedRemovals { failedRemovals = [.all] }
        guard let count = scopes[scope] else { return }
        scopes[scope] = count > 1 ? count - 1 : nil
    }

    /// Records that a removal that had failed before has succeeded.
    mutating func didRemove(_ scope: ResponseScope) { failedRemovals.remove(scope) }
}
