import WaystationCaching

/// The changes of a store that were requested and are not made yet: until they are, memory answers for none of their
/// keys.
struct PendingChanges: Sendable {
    /// When there are more failed removals than this, they are replaced by one of everything.
    static let maximumFailedRemovals = 1_024

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
