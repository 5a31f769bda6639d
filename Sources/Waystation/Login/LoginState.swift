/// Who waits for a login, and what is asked of its provider: a state machine without side effects.
///
/// Whether somebody is logged in is no state of its own: the token in the cookies says so, and is given to each event.
struct LoginState {
    /// One question to the provider.
    struct Attempt: Equatable {
        let number: UInt64
        let reason: LoginReason
    }

    /// Somebody who waits.
    typealias Waiter = UInt64

    /// What becomes of somebody who needs a login.
    enum Entry: Equatable {
        /// There is one.
        case goOn
        /// Wait, for a question that is asked already, or is to be asked now.
        case wait(Waiter, asking: Attempt?)
    }

    private struct Running {
        let attempt: Attempt
        var waiters: [Waiter] = []
        /// The answer is here and is being put in place.
        var isSettling = false
    }

    private var running: Running?
    private var attempts: UInt64 = 0
    private var waiters: Waiter = 0

    /// Somebody needs a login.
    ///
    /// - Parameters:
    ///   - token: The present one.
    ///   - refused: The one that the server refused; nil for who has not asked the server yet.
    /// - Returns: What to do.
    mutating func enter(having token: String?, refused: String? = nil) -> Entry {
        // Refused with an older token: there is a newer one by now.
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

    /// Somebody waits no more.
    ///
    /// - Returns: The question that nobody waits for now; it is to be taken back.
    mutating func leave(_ waiter: Waiter) -> Attempt? {
        guard let index = running?.waiters.firstIndex(of: waiter) else { return nil }
        running?.waiters.remove(at: index)
        guard let left = running, left.waiters.isEmpty, !left.isSettling else { return nil }
        running = nil
        return left.attempt
    }

    /// Whether the provider is asked something.
    var isAsking: Bool { running != nil }

    /// Whether a question is still to be answered.
    func isAsking(_ number: UInt64) -> Bool { running?.attempt.number == number }

    /// The provider answered.
    ///
    /// False when nobody waits for that any more: drop the answer.
    mutating func settle(_ number: UInt64) -> Bool {
        guard let attempt = running?.attempt, attempt.number == number else { return false }
        running?.isSettling = true
        return true
    }

    /// The answer is in place, or is none.
    ///
    /// - Returns: Who is to be told.
    mutating func finish(_ number: UInt64) -> [Waiter] {
        guard let done = running, done.attempt.number == number else { return [] }
        running = nil
        return done.waiters
    }

    /// The time limit of a question is over.
    ///
    /// - Returns: Who is to be told; nil where that means nothing, since it is answered or gone.
    mutating func expire(_ number: UInt64) -> [Waiter]? {
        guard let late = running, late.attempt.number == number, !late.isSettling else { return nil }
        running = nil
        return late.waiters
    }

    /// Somebody logs out.
    ///
    /// - Returns: Who is to be told, and the question that is to be taken back.
    mutating func logOut() -> (waiters: [Waiter], attempt: Attempt?) {
        defer { running = nil }
        return (running?.waiters ?? [], running?.attempt)
    }
}
