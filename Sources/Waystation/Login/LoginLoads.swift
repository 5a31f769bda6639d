import Synchronization

/// The loads of a login, so that a log-out can end them: a count of log-outs, and who began since the last.
final class LoginLoads: Sendable {
    private struct State {
        var epoch: UInt64 = 0
        var next: UInt64 = 0
        var running: [UInt64: @Sendable (LoginPlace) -> Void] = [:]
        var places: [UInt64: WeakPlace] = [:]
        /// Those that a log-out waits for.
        var leaving: [Set<UInt64>] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private struct WeakPlace {
        weak var place: LoginPlace?
    }

    private let state = Mutex(State())

    /// The count of log-outs by now; to be read before a request gets its cookies.
    var epoch: UInt64 { state.withLock(\.epoch) }

    /// Gives a load a place among those of an epoch; nil when that has ended.
    ///
    /// - Parameters:
    ///   - epoch: When its request got its cookies.
    ///   - end: Ends it, and leaves the place soon.
    /// - Returns: The place.
    func enter(_ epoch: UInt64, end: @escaping @Sendable (LoginPlace) -> Void) -> LoginPlace? {
        state.withLock { state in
            guard state.epoch == epoch else { return nil }
            state.next += 1
            let number = state.next
            let place = LoginPlace(number) { [weak self] in self?.leave(number) }
            state.running[number] = end
            state.places[number] = WeakPlace(place: place)
            return place
        }
    }

    private func leave(_ number: UInt64) {
        let done: [CheckedContinuation<Void, Never>] = state.withLock { state in
            state.running[number] = nil
            state.places[number] = nil
            for index in state.leaving.indices { state.leaving[index].remove(number) }
            guard state.leaving.allSatisfy(\.isEmpty) else { return [] }
            state.leaving = []
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in done { waiter.resume() }
    }

    /// Begins a new epoch, ends the loads of the one before and waits until each has let go.
    ///
    /// - Returns: How many there were.
    func advance() async -> Int {
        let count = endAll()
        await drained()
        return count
    }

    private func endAll() -> Int {
        let ends: [(LoginPlace, @Sendable (LoginPlace) -> Void)] = state.withLock { state in
            state.epoch += 1
            let ends = state.running.compactMap { number, end in
                state.places[number]?.place.map { ($0, end) }
            }
            state.leaving.append(Set(ends.map(\.0.number)))
            return ends
        }
        for (place, end) in ends { end(place) }
        return ends.count
    }

    private func drained() async {
        await withCheckedContinuation { continuation in
            let isDone = state.withLock { state in
                if state.leaving.allSatisfy(\.isEmpty) {
                    state.leaving = []
                    return true
                }
                state.waiters.append(continuation)
                return false
            }
            if isDone { continuation.resume() }
        }
    }
}

/// A load's place among those of a login; it is left with the last reference.
final class LoginPlace: Sendable {
    let number: UInt64
    private let leaving: @Sendable () -> Void

    init(_ number: UInt64, leaving: @escaping @Sendable () -> Void) {
        self.number = number
        self.leaving = leaving
    }

    /// Leaves it, while others may still hold it.
    func leave() { leaving() }

    deinit { leaving() }
}
