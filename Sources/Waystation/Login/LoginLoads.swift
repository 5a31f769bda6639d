import Synchronization
import WaystationFoundation

/// The loads of a login since the last log-out, and the number of log-outs (the epoch), so that a log-out can end the
/// loads.
final class LoginLoads: Sendable {
    /// Ends a load; it must leave its place soon after.
    ///
    /// Returns whether the load was ended: one that has just ended by itself may not have left its place yet.
    typealias End = @Sendable (LoginPlace) -> Bool

    private struct State {
        var epoch: UInt64 = 0
        var next: UInt64 = 0
        var running: [UInt64: End] = [:]
        var places: [UInt64: WeakPlace] = [:]
        /// The numbers of the loads that a log-out waits for.
        var leaving: [Set<UInt64>] = []
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private struct WeakPlace {
        weak var place: LoginPlace?
    }

    private let state = Mutex(State())

    /// The number of log-outs so far; read it before a request gets its cookies.
    var epoch: UInt64 { state.withLock(\.epoch) }

    /// Gives a load a place among those of an epoch; nil when that epoch has ended.
    ///
    /// - Parameters:
    ///   - epoch: The epoch in which the load's request got its cookies.
    ///   - end: Ends the load.
    /// - Returns: The place.
    func enter(_ epoch: UInt64, end: @escaping End) -> LoginPlace? {
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

    /// Begins a new epoch, ends the loads of the previous one and waits until each has left its place.
    ///
    /// - Returns: The number of loads that were ended.
    func advance() async -> Int {
        let count = endAll()
        await drained()
        return count
    }

    private func endAll() -> Int {
        let ends: [(LoginPlace, End)] = state.withLock { state in
            state.epoch += 1
            let ends = state.running.compactMap { number, end in
                state.places[number]?.place.map { ($0, end) }
            }
            state.leaving.append(Set(ends.map(\.0.number)))
            return ends
        }
        return ends.count { place, end in end(place) }
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

/// A load's place among those of a login; it is also left when its last reference goes.
final class LoginPlace: Sendable {
    let number: UInt64
    private let leaving: @Sendable () -> Void

    init(_ number: UInt64, leaving: @escaping @Sendable () -> Void) {
        self.number = number
        self.leaving = leaving
    }

    /// Leaves the place, while other code may still hold a reference to it.
    func leave() { leaving() }

    deinit { leaving() }
}

/// Records the login under which a request got its cookies, and the number of log-outs at that time.
struct LoginTicket: Sendable {
    let login: LoginSession
    private let epoch: UInt64

    /// Makes a ticket for the present; take it before the request gets its cookies, so that a log-out in between makes
    /// it void.
    init(_ login: LoginSession) {
        self.login = login
        epoch = login.loads.epoch
    }

    /// Whether no log-out has happened since.
    var isValid: Bool { login.loads.epoch == epoch }

    /// Gives a load its place; nil when the user has logged out since.
    func enter(end: @escaping LoginLoads.End) -> LoginPlace? {
        login.loads.enter(epoch, end: end)
    }
}
