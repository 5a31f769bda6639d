import Synchronization
import WaystationFoundation

/// The requests that wait for a login, and the current call of the provider: a state machine without side effects.
///
/// The state does not record whether a user is logged in: the token in the cookies shows that, and each call gets it.
struct LoginState {
    /// One call of the provider.
    struct Attempt: Equatable {
        let number: UInt64
        let reason: LoginReason
    }

    /// The number of a waiting request.
    typealias Waiter = UInt64

    /// How a request that needs a login continues.
    enum Entry: Equatable {
        /// There is a login: continue.
        case goOn
        /// Wait, either for a running call of the provider, or for the one to be made now.
        case wait(Waiter, asking: Attempt?)
    }

    private struct Running {
        let attempt: Attempt
        var waiters: [Waiter] = []
        /// The provider has answered, and its token is being put into the cookies.
        var isSettling = false
    }

    private var running: Running?
    private var attempts: UInt64 = 0
    private var waiters: Waiter = 0

    /// Handles a request that needs a login.
    ///
    /// - Parameters:
    ///   - token: The present token.
    ///   - refused: The token that the server refused; nil for a request that was not sent yet.
    /// - Returns: How the request continues.
    mutating func enter(having token: String?, refused: String? = nil) -> Entry {
        // The server refused an older token, and a newer one is available now.
        if let token, refused != nil, token != refused { return .goOn }
        if token != nil, refused == nil, running == nil { return .goOn }
        waiters += 1
        guard running == nil else {
            running?.waiters.append(waiters)
            return .wait(waiters, asking: nil)
        }
        attempts += 1
        let reason = refused.map { LoginReason.renewal(refused: LoginToken($0)) } ?? .signIn
        let attempt = Attempt(number: attempts, reason: reason)
        running = Running(attempt: attempt, waiters: [waiters])
        return .wait(waiters, asking: attempt)
    }

    /// Removes a waiting request.
    ///
    /// - Returns: The call of the provider that no request waits for any more; the caller cancels it.
    mutating func leave(_ waiter: Waiter) -> Attempt? {
        guard let index = running?.waiters.firstIndex(of: waiter) else { return nil }
        running?.waiters.remove(at: index)
        guard let left = running, left.waiters.isEmpty, !left.isSettling else { return nil }
        running = nil
        return left.attempt
    }

    /// Whether a call of the provider is running.
    var isAsking: Bool { running != nil }

    /// Whether the call with this number is still running.
    func isAsking(_ number: UInt64) -> Bool { running?.attempt.number == number }

    /// Records that the provider answered.
    ///
    /// Returns false when no request waits for the answer any more: the caller drops it.
    mutating func settle(_ number: UInt64) -> Bool {
        guard let attempt = running?.attempt, attempt.number == number else { return false }
        running?.isSettling = true
        return true
    }

    /// Ends a call of the provider, whose token is now in the cookies or could not be obtained.
    ///
    /// - Returns: The waiting requests, which get the result.
    mutating func finish(_ number: UInt64) -> [Waiter] {
        guard let done = running, done.attempt.number == number else { return [] }
        running = nil
        return done.waiters
    }

    /// Handles the time limit of a call of the provider.
    ///
    /// - Returns: The waiting requests, which get the error; nil when the call was answered or is gone.
    mutating func expire(_ number: UInt64) -> [Waiter]? {
        guard let late = running, late.attempt.number == number, !late.isSettling else { return nil }
        running = nil
        return late.waiters
    }

    /// Handles a log-out.
    ///
    /// - Returns: The waiting requests, which get the error, and the call of the provider that the caller cancels.
    mutating func logOut() -> (waiters: [Waiter], attempt: Attempt?) {
        defer { running = nil }
        return (running?.waiters ?? [], running?.attempt)
    }
}

/// The loads of a login since the last log-out, and the number of log-outs (the epoch), so that a log-out can end the
/// loads.
final class LoginLoads: Sendable {
    /// Ends a load, because of a log-out; it must leave its place soon after.
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

    /// Puts a load among those of an epoch.
    ///
    /// - Returns: The load's number; nil when that epoch has ended.
    fileprivate func enter(_ epoch: UInt64, _ place: LoginPlace, end: @escaping End) -> UInt64? {
        state.withLock { state in
            guard state.epoch == epoch else { return nil }
            state.next += 1
            state.running[state.next] = end
            state.places[state.next] = WeakPlace(place: place)
            return state.next
        }
    }

    fileprivate func leave(_ number: UInt64) {
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
        let ends: [(number: UInt64, place: LoginPlace, end: End)] = state.withLock { state in
            state.epoch += 1
            let ends = state.running.compactMap { number, end in
                state.places[number]?.place.map { (number, $0, end) }
            }
            state.leaving.append(Set(ends.map(\.0)))
            return ends
        }
        return ends.count { $0.end($0.place) }
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

/// A load's place among those of a login, which it takes at most once.
///
/// It is also left when its last reference goes.
final class LoginPlace: Sendable {
    private enum Phase {
        case outside
        case inside(LoginLoads, number: UInt64)
        case left
    }

    private let phase = Mutex(Phase.outside)

    /// Puts the load among those of its login, so that a log-out ends it.
    ///
    /// - Parameters:
    ///   - ticket: The login under which the load's request got its cookies.
    ///   - end: Ends the load. It may be called before this function returns.
    /// - Returns: False when the user has logged out since, or when the load has left.
    func enter(_ ticket: LoginTicket, end: @escaping LoginLoads.End) -> Bool {
        phase.withLock { phase in
            switch phase {
            case .inside: return ticket.isValid
            case .left: return false
            case .outside:
                let loads = ticket.login.loads
                guard let number = loads.enter(ticket.epoch, self, end: end) else { return false }
                phase = .inside(loads, number: number)
                return true
            }
        }
    }

    /// Leaves the place for good.
    ///
    /// - Returns: Whether the load was inside.
    @discardableResult
    func leave() -> Bool {
        let left = phase.withLock { phase in
            defer { phase = .left }
            return phase
        }
        guard case .inside(let loads, let number) = left else { return false }
        loads.leave(number)
        return true
    }

    deinit { leave() }
}

/// Records the login under which a request got its cookies, and the number of log-outs at that time.
struct LoginTicket: Sendable {
    let login: LoginSession
    fileprivate let epoch: UInt64

    /// Makes a ticket for the present; take it before the request gets its cookies, so that a log-out in between makes
    /// it void.
    init(_ login: LoginSession) {
        self.login = login
        epoch = login.loads.epoch
    }

    /// Whether no log-out has happened since.
    var isValid: Bool { login.loads.epoch == epoch }
}
