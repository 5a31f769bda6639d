import Synchronization

/// The invalidations that have not reached the tier yet, in order: a state machine without side effects.
struct Outbox: Sendable {
    /// If more invalidations wait, one of everything replaces them.
    static let limit = 1_024

    private struct Entry {
        let scope: SharedScope
        /// End when the invalidation has reached the tier, or when an attempt to deliver has failed.
        var attempts: [Expectation] = []
    }

    /// The caller's next step after it added an invalidation.
    enum Step {
        /// Begin to deliver.
        case deliver
        /// End this pause, so that the next attempt begins now.
        case endPause(Expectation)
        /// Nothing: the invalidation is delivered after those before it.
        case nothing
    }

    private var entries: [Entry] = []
    private var isDelivering = false
    /// The pause after a failed attempt, while it lasts.
    private var pause: Expectation?

    var scopes: [SharedScope] { entries.map(\.scope) }
    var isEmpty: Bool { entries.isEmpty }

    /// Adds an invalidation.
    ///
    /// - Parameters:
    ///   - scope: The responses.
    ///   - attempt: Ends when the invalidation has reached the tier, or when an attempt to deliver has failed.
    /// - Returns: The caller's next step.
    mutating func add(_ scope: SharedScope, awaiting attempt: Expectation? = nil) -> Step {
        // The first one may be under way, and have passed the tier before the reason for this one.
        let place = entries.dropFirst().firstIndex { $0.scope == scope } ?? entries.endIndex
        if place == entries.endIndex { entries.append(Entry(scope: scope)) }
        if let attempt { entries[place].attempts.append(attempt) }
        if entries.count > Self.limit {
            let replaced = entries.dropFirst().flatMap(\.attempts)
            entries = [entries[0], Entry(scope: .all, attempts: replaced)]
        }
        guard isDelivering else {
            isDelivering = true
            return .deliver
        }
        // An attempt before its time is made only for a caller that waits.
        guard attempt != nil, let current = pause.take() else { return .nothing }
        return .endPause(current)
    }

    /// The invalidation to deliver next; nil when nothing is left to deliver.
    mutating func next() -> SharedScope? {
        pause = nil
        isDelivering = !entries.isEmpty
        return entries.first?.scope
    }

    /// The invalidation of ``next()`` has reached the tier.
    ///
    /// - Returns: The attempts that the caller must end.
    mutating func delivered() -> [Expectation] { entries.isEmpty ? [] : entries.removeFirst().attempts }

    /// The invalidation of ``next()`` could not be delivered; the next attempt begins after a pause.
    ///
    /// - Returns: The attempts that the caller must end.
    mutating func failed(before pause: Expectation) -> [Expectation] {
        self.pause = pause
        defer { for place in entries.indices { entries[place].attempts = [] } }
        return entries.flatMap(\.attempts)
    }
}

/// Work that goes on after the call that began it, and for whose end others can wait.
final class PendingWork: Sendable {
    private struct State {
        var count = 0
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Begins work in a task of its own.
    func begin(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { $0.count += 1 }
        Task {
            await work()
            end()
        }
    }

    /// Waits until no work is under way, also none that began meanwhile.
    func wait() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                guard state.count > 0 else { return true }
                state.waiting.append(continuation)
                return false
            }
            if isIdle { continuation.resume() }
        }
    }

    private func end() {
        let ended = state.withLock { state in
            state.count -= 1
            guard state.count == 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in ended { continuation.resume() }
    }
}
