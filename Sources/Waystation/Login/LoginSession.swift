import Foundation
import Synchronization
import WaystationCookies

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
