import Dispatch
import Synchronization
import WaystationFoundation
import WaystationHTTP

/// One login for an app's own requests and for the pages that it loads.
///
/// ```swift
/// let login = LoginSession(cookie: .named("token", domain: "shop.example")) { try await app.signIn() }
/// let interceptor = try Interceptor {
///     $0.rules = [.allow("https://shop.example/**", via: .network, requiresLogin: .marked)]
///     $0.login = login
/// }
/// ```
///
/// A request that needs a login waits while no user is logged in: the provider is called once for all waiting requests,
/// and its token is put into the cookies before the first of them is sent. After a 401 to the token, the token is
/// renewed once, and the request is sent once more. ``logOut()`` is a barrier: after it, nothing from before it is
/// sent, delivered or stored.
///
/// Each account needs a session, an interceptor, a ``CookieStore`` and an `HTTPCookieStorage` of its own. Accounts may
/// share a ``ResponseCache``. All members may be called from any thread.
public final class LoginSession: Sendable, CookieOwner {
    /// The dependencies of the session, set when an interceptor gets it.
    struct Setting: Sendable {
        let cookies: CookieStore
        let now: @Sendable () -> Date
        let schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
        var users: [WeakUser] = []

        struct WeakUser: Sendable {
            weak var user: (any LoginUser)?
        }
    }

    struct State {
        var login = LoginState()
        var waiters: [LoginState.Waiter: @Sendable (Result<Void, URLError>) -> Void] = [:]
        var question: (number: UInt64, task: Task<Void, Never>)?
        var partitions = LoginPartitions()
    }

    /// The account of the login, in events and errors; `default` if none was given.
    ///
    /// Sessions of one account share the responses that a cache has stored for their token.
    public let account: String
    /// The cookie that carries the token.
    public let cookie: LoginCookie
    /// How long a call of the provider may take.
    public let timeout: Duration

    /// The identity of the token's cookie in a jar.
    let id: Cookie.ID
    let provider: @Sendable (LoginReason) async throws -> LoginToken
    let setting = Mutex<Setting?>(nil)
    let state = Mutex(State())
    let loads = LoginLoads()

    /// Makes a session whose provider returns only a token.
    ///
    /// - Parameters:
    ///   - account: The account of the login.
    ///   - cookie: The cookie that carries the token.
    ///   - timeout: How long the provider, and with it all waiting requests, may take; 3 s by default.
    ///   - signIn: Signs in, and returns the token. Its own requests must not need this login: they would wait for
    ///     themselves until the time limit.
    public convenience init(
        account: String = "default",
        cookie: LoginCookie,
        timeout: Duration = .seconds(3),
        signIn: @escaping @Sendable () async throws -> String
    ) {
        self.init(account: account, cookie: cookie, timeout: timeout) { _ in LoginToken(try await signIn()) }
    }

    /// Makes a session whose provider gets the reason for the call, and may return the expiry of its token.
    ///
    /// - Parameters:
    ///   - account: The account of the login.
    ///   - cookie: The cookie that carries the token.
    ///   - timeout: How long the provider, and with it all waiting requests, may take; 3 s by default.
    ///   - provider: Signs in, or renews a token that was refused.
    public init(
        account: String = "default",
        cookie: LoginCookie,
        timeout: Duration = .seconds(3),
        provider: @escaping @Sendable (LoginReason) async throws -> LoginToken
    ) {
        self.account = account
        self.cookie = cookie
        self.timeout = timeout
        self.provider = provider
        // An invalid cookie is refused later, when an interceptor is made.
        id =
            (try? cookie.holding("token", now: .distantPast))?.id
            ?? Cookie.ID(name: cookie.name, domain: cookie.domain, isHostOnly: cookie.isHostOnly, path: cookie.path)
    }

    /// Whether there is a token that has not expired.
    public var isLoggedIn: Bool { token != nil }

    /// Logs in ahead of time; returns at once when there is a token.
    ///
    /// - Throws: `URLError.userAuthenticationRequired` with a ``WaystationError`` under it, when the provider failed or
    ///   exceeded its time limit; `URLError.userCancelledAuthentication` when the user logged out; `CancellationError`
    ///   when the task was cancelled; ``WaystationError`` with the code `missingLogin` when no interceptor has this
    ///   session as its login yet.
    public func logIn() async throws {
        try checkAttached()
        let waiting = Mutex<Waiting?>(nil)
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                let known = wait(refused: nil, url: nil) { result in
                    continuation.resume(
                        with: result.mapError { $0.code == .cancelled ? CancellationError() as any Error : $0 }
                    )
                }
                waiting.withLock { $0 = known }
                if Task.isCancelled { known?.stop() }
            }
        } onCancel: {
            waiting.withLock { $0 }?.stop()
        }
    }

    private func checkAttached() throws {
        guard setting.withLock({ $0 == nil }) else { return }
        throw WaystationError(
            .missingLogin,
            "the login of \(account) belongs to no interceptor yet: set it as `login` of a configuration first"
        )
    }

    // MARK: - The token

    var cookies: CookieStore? { setting.withLock { $0?.cookies } }

    var token: String? { cookies?.value(of: id) }

    // MARK: - Its interceptors

    /// Takes over the cookie store, clock and timer of an interceptor; a session has one store.
    func attach(
        cookies given: CookieStore?,
        now: @escaping @Sendable () -> Date,
        schedule: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
    ) throws -> CookieStore {
        let cookies = given ?? cookies ?? CookieStore(now: now)
        do throws(CookieError) {
            try cookies.check(try cookie.holding("token", now: now()))
        } catch {
            throw WaystationError(
                .invalidLogin,
                "the cookie of the login of \(account) is not valid: \(error)",
                cause: error
            )
        }
        let setting = Setting(cookies: cookies, now: now, schedule: schedule)
        let isSame = self.setting.withLock { known in
            known = known ?? setting
            return known?.cookies === cookies
        }
        guard isSame else {
            throw WaystationError(
                .invalidLogin,
                "the login of \(account) already has another CookieStore: give all of its interceptors the same one"
            )
        }
        let owner = cookies.state.withLock { state in
            state.login = state.login ?? self
            return state.login
        }
        guard owner === self else {
            throw WaystationError(
                .invalidLogin,
                """
                the cookies belong to the login of \(owner?.account ?? "another"): give the login of \(account) a \
                CookieStore of its own, or its token would be sent with the other's requests
                """
            )
        }
        return cookies
    }

    func add(_ user: any LoginUser) {
        setting.withLock { setting in
            setting?.users.removeAll { $0.user == nil }
            setting?.users.append(Setting.WeakUser(user: user))
        }
    }

    var users: [any LoginUser] { setting.withLock { $0?.users.compactMap(\.user) ?? [] } }

    func report(_ kind: LoginEvent.Kind) {
        let event = LoginEvent(account: account, kind: kind)
        for user in users { user.report(event) }
    }
}

/// The interceptor of a login, as far as the login knows it.
protocol LoginUser: AnyObject, Sendable {
    /// Reports an event of the login.
    func report(_ event: LoginEvent)
    /// Removes the stored responses of a login that has ended, and the credentials of its hosts.
    func forget(_ login: LoginSession) async
}

extension LoginSession {
    /// Ends the login, and returns when nothing of it is left.
    ///
    /// When it returns
    /// - all cookies of the login's domain are removed, from the store, its file and the storages that are kept in
    ///   step;
    /// - the account's stored responses, and the credentials for hosts of the domain, are removed;
    /// - every load that began under the login, or waited for it, has ended, with
    ///   `URLError.userCancelledAuthentication` and ``WaystationError/Code/loggedOut`` under it;
    /// - no response to an earlier request is delivered or stored, and none of its cookies is taken over;
    /// - a late answer of the provider is dropped.
    ///
    /// It waits for a storage no longer than the storage's time limit; an event names a storage that did not answer.
    /// Requests that were handed to Foundation before the call are not undone. Loads that begin while it runs may
    /// belong to the login or not.
    public func logOut() async {
        guard let cookies else { return }
        // The cookies are removed first, so a load that gets a place in the new epoch has no old cookies. The stored
        // responses are removed last, because requests sent after that are refused for the cookies they carry.
        let sends = cookies.end(id, of: account)
        endWaiting()
        state.withLock { $0.partitions.end() }
        let count = await loads.advance()
        // `start` of a transport returns at once, so this wait is short.
        await withCheckedContinuation { ended in sends.notify(queue: .global()) { ended.resume() } }
        // Until now, the loads that Foundation ran could store cookies in its storage.
        cookies.endStorages(of: id)
        for user in users { await user.forget(self) }
        await cookies.synchronize()
        report(.loggedOut(endedLoads: count))
    }
}

/// The side effects of ``LoginState``: calls of the provider, time limits, and the completions of those who wait.
extension LoginSession {
    /// A waiting request, which can stop waiting.
    struct Waiting: Sendable {
        fileprivate let session: LoginSession
        fileprivate let waiter: LoginState.Waiter

        /// Stops waiting; a completion that was not called yet gets a cancellation error.
        func stop() { session.leave(waiter) }
    }

    /// Waits for a login.
    ///
    /// - Parameters:
    ///   - refused: The token that the server refused; nil for a request that was not sent yet.
    ///   - url: The URL of the request, for messages.
    ///   - completion: Called once, on any thread; called at once when there is a login.
    /// - Returns: The waiting request; nil when it does not have to wait.
    func wait(
        refused: String?,
        url: URL?,
        _ completion: @escaping @Sendable (Result<Void, URLError>) -> Void
    ) -> Waiting? {
        // The clock is the app's, and is not called under the lock. The token is read under the lock: otherwise another
        // request's token could arrive after the reading, and the provider would be asked once more.
        let now = setting.withLock { $0?.now }?() ?? .distantPast
        let entry = state.withLock { state in
            let token = cookies?.value(of: id, at: now)
            let entry = state.login.enter(having: token, refused: refused)
            if case .wait(let waiter, _) = entry {
                state.waiters[waiter] = { completion($0.mapError { $0.naming(url) }) }
            }
            return entry
        }
        switch entry {
        case .goOn:
            completion(.success(()))
            return nil
        case .wait(let waiter, let attempt):
            if let attempt { ask(attempt) }
            return Waiting(session: self, waiter: waiter)
        }
    }

    private func leave(_ waiter: LoginState.Waiter) {
        let (tell, attempt, task) = state.withLock { state in
            let attempt = state.login.leave(waiter)
            return (state.waiters.removeValue(forKey: waiter), attempt, state.takeQuestion(attempt))
        }
        task?.cancel()
        if attempt != nil { report(.abandoned) }
        tell?(.failure(URLError(.cancelled)))
    }

    private func ask(_ attempt: LoginState.Attempt) {
        guard let setting = setting.withLock({ $0 }) else { return }
        report(.asked(attempt.reason))
        // The moment is read before the provider is called: a token from before a log-out is not put into the cookies.
        let moment = setting.cookies.moment()
        let task = Task { [provider] in
            do {
                await self.answer(attempt, try await provider(attempt.reason), setting, moment)
            } catch {
                self.fail(attempt, .loginFailed, "the provider failed: \("\(error)".shown(upTo: 2_000))", error)
            }
        }
        // The attempt may already have been answered or abandoned.
        let isVain = state.withLock { state in
            guard state.login.isAsking(attempt.number) else { return true }
            state.question = (attempt.number, task)
            return false
        }
        if isVain { return task.cancel() }
        setting.schedule(timeout) { [weak self] in self?.expire(attempt) }
    }

    /// Puts a token into the cookies, and into the storages that are kept in step, before any waiting request
    /// continues.
    private func answer(
        _ attempt: LoginState.Attempt,
        _ token: LoginToken,
        _ setting: Setting,
        _ moment: CookieStore.Moment
    ) async {
        do throws(CookieError) {
            let now = setting.now()
            let cookie = try cookie.holding(token, now: now)
            guard !cookie.isExpired(at: now) else {
                let what = "the provider's token has already expired; return one that is still valid"
                return fail(attempt, .loginFailed, what, WaystationError(.loginFailed, what))
            }
            guard state.withLock({ $0.login.settle(attempt.number) }) else { return }
            state.withLock { $0.partitions.note(token.value, of: account, for: attempt.reason) }
            guard try setting.cookies.insert(cookie, of: account, asOf: moment) else {
                return tell(attempt, .failure(.loggedOut(nil)))
            }
        } catch {
            let reason = "\(error)".shown(upTo: 2_000)
            return fail(attempt, .loginFailed, "the provider's token cannot be sent: \(reason)", error)
        }
        await setting.cookies.synchronizeStorages()
        report(.loggedIn(attempt.reason))
        tell(attempt, .success(()))
    }

    private func fail(_ attempt: LoginState.Attempt, _ code: WaystationError.Code, _ what: String, _ cause: any Error) {
        guard state.withLock({ $0.login.settle(attempt.number) }) else { return }
        report(.failed(cause))
        tell(attempt, .failure(error(code, what, cause)))
    }

    private func expire(_ attempt: LoginState.Attempt) {
        let (waiters, task) = state.withLock { state in
            let waiters = state.login.expire(attempt.number)
            return (waiters.map { state.takeWaiters($0) }, waiters.flatMap { _ in state.takeQuestion(attempt) })
        }
        guard let waiters else { return }
        task?.cancel()
        report(.timedOut)
        let error = error(.loginTimedOut, "its provider returned no token within \(timeout)", nil)
        for waiter in waiters { waiter(.failure(error)) }
    }

    private func tell(_ attempt: LoginState.Attempt, _ result: Result<Void, URLError>) {
        let waiters = state.withLock { state in
            _ = state.takeQuestion(attempt)
            return state.takeWaiters(state.login.finish(attempt.number))
        }
        for waiter in waiters { waiter(result) }
    }

    /// Ends all waiting, because the user logged out.
    private func endWaiting() {
        let (waiters, task) = state.withLock { state in
            let (waiters, attempt) = state.login.logOut()
            return (state.takeWaiters(waiters), state.takeQuestion(attempt))
        }
        task?.cancel()
        for waiter in waiters { waiter(.failure(.loggedOut(nil))) }
    }

    private func error(_ code: WaystationError.Code, _ what: String, _ cause: (any Error)?) -> URLError {
        let message = "the login of \(account) for \(cookie.domain) failed: \(what)"
        return URLError(
            .userAuthenticationRequired,
            failing: nil,
            message,
            underlying: WaystationError(code, message, cause: cause)
        )
    }
}

extension LoginSession.State {
    /// Removes and returns the call of the provider if it belongs to the attempt.
    fileprivate mutating func takeQuestion(_ attempt: LoginState.Attempt?) -> Task<Void, Never>? {
        guard let attempt, question?.number == attempt.number else { return nil }
        defer { question = nil }
        return question?.task
    }

    fileprivate mutating func takeWaiters(
        _ waiters: [LoginState.Waiter]
    ) -> [@Sendable (Result<Void, URLError>) -> Void] {
        waiters.compactMap { self.waiters.removeValue(forKey: $0) }
    }
}

extension URLError {
    /// The error of a load that a log-out has ended.
    static func loggedOut(_ url: URL?) -> URLError {
        let message = "the user logged out while this load was under way; load it again"
        return URLError(
            .userCancelledAuthentication,
            failing: url,
            message,
            underlying: WaystationError(.loggedOut, message)
        )
    }

    /// The same error for a URL.
    fileprivate func naming(_ url: URL?) -> URLError {
        URLError(code, failing: url, localizedDescription, underlying: userInfo[NSUnderlyingErrorKey] as? any Error)
    }
}
