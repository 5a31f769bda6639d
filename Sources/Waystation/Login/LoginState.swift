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
