/// The invalidations that have not reached the tier yet, in order: a state machine without side effects.
struct Outbox: Sendable {
    /// If more invalidations wait, one of everything replaces them.
    static let limit = 1_024

    private(set) var scopes: [SharedScope] = []
    private var isDelivering = false

    var isEmpty: Bool { scopes.isEmpty }

    /// Adds an invalidation.
    ///
    /// - Returns: Whether the caller must begin to deliver.
    mutating func add(_ scope: SharedScope) -> Bool {
        // The last one may be under way, and have passed the tier before the reason for this one.
        if scopes.dropFirst().contains(scope) { return false }
        scopes.append(scope)
        if scopes.count > Self.limit { scopes = [scopes[0], .all] }
        defer { isDelivering = true }
        return !isDelivering
    }

    /// The invalidation to deliver next; nil when nothing is left to deliver.
    mutating func next() -> SharedScope? {
        isDelivering = !scopes.isEmpty
        return scopes.first
    }

    /// The invalidation of ``next()`` has reached the tier.
    mutating func delivered() {
        if !scopes.isEmpty { scopes.removeFirst() }
    }
}
