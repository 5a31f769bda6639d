import Foundation
import FoundationNetworking
import Synchronization
import WaystationCookies

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
/// A request that needs a login waits while nobody is logged in: the provider is asked once for all that wait, and its
/// token is put into the cookies before the first of them leaves. A 401 to the token has it renewed, once, and the
/// request sent again, once. ``logOut()`` is a barrier: nothing from before it is sent, delivered or stored after it.
///
/// Each account has a session, and an interceptor, a ``CookieStore`` and an `HTTPCookieStorage` of its own; they may
/// share a ``ResponseCache``. All members may be called from any thread.
public final class LoginSession: Sendable {
    /// What is known once an interceptor has the session.
    struct Setting: Sendable {
        let cookies: CookieStore
        let now: @Sendable () -> Date
        let schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
        var engines: [WeakEngine] = []

        struct WeakEngine: Sendable {
            weak var engine: Engine?
        }
    }

    struct State {
        var login = LoginState()
        var waiters: [LoginState.Waiter: @Sendable (Result<Void, URLError>) -> Void] = [:]
        var question: (number: UInt64, task: Task<Void, Never>)?
        var partitions = LoginPartitions()
    }

    /// Whose login it is, in events and errors; `default` where none was given.
    ///
    /// Sessions of one account share what a cache has stored for their token.
    public let account: String
    /// The cookie that carries the token.
    public let cookie: LoginCookie
    /// How long the provider may take.
    public let timeout: Duration

    /// The identity of the token's cookie in a jar.
    let id: Cookie.ID
    let provider: @Sendable (LoginReason) async throws -> LoginToken
    let setting = Mutex<Setting?>(nil)
    let state = Mutex(State())
    let loads = LoginLoads()

    /// Makes a session whose provider brings nothing but a token.
    ///
    /// - Parameters:
    ///   - account: Whose login it is.
    ///   - cookie: The cookie that carries the token.
    ///   - timeout: How long the provider may take, and with it all that wait; 3 s by default.
    ///   - signIn: Signs in, and returns the token. Its own requests must not need this login: they would wait for
    ///     themselves until the time is over.
    public convenience init(
        account: String = "default",
        cookie: LoginCookie,
        timeout: Duration = .seconds(3),
        signIn: @escaping @Sendable () async throws -> String
    ) {
        self.init(account: account, cookie: cookie, timeout: timeout) { _ in LoginToken(try await signIn()) }
    }

    /// Makes a session whose provider is told why it is asked, and may say when its token ends.
    ///
    /// - Parameters:
    ///   - account: Whose login it is.
    ///   - cookie: The cookie that carries the token.
    ///   - timeout: How long the provider may take, and with it all that wait; 3 s by default.
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
        // A cookie that cannot be is refused when an interceptor is made.
        id =
            (try? cookie.holding("token", now: .distantPast))?.id
            ?? Cookie.ID(name: cookie.name, domain: cookie.domain, isHostOnly: cookie.isHostOnly, path: cookie.path)
    }

    /// Whether there is a token that has not ended.
    public var isLoggedIn: Bool { token != nil }

    /// Logs in ahead of time; returns at once where there is a token.
    ///
    /// - Throws: `URLError.userAuthenticationRequired` with a ``WaystationError`` under it, when the provider failed, the
    ///   time was over or somebody logged out; `CancellationError` when the task was cancelled.
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
            "the login of \(account) belongs to no interceptor yet: set `login` of a configuration to it first"
        )
    }

    // MARK: - The token

    var cookies: CookieStore? { setting.withLock { $0?.cookies } }

    var token: String? { cookies?.value(of: id) }

    // MARK: - Its interceptors

    /// Takes an interceptor's means; a session has one store.
    func attach(cookies given: CookieStore?, _ configuration: Interceptor.Configuration) throws -> CookieStore {
        let now = configuration.now
        do throws(CookieError) {
            _ = try cookie.holding("token", now: now())
        } catch {
            throw WaystationError(
                .invalidLogin,
                "the cookie of the login of \(account) cannot be: \(error)",
                cause: error
            )
        }
        let cookies = given ?? cookies ?? CookieStore(now: now)
        let setting = Setting(cookies: cookies, now: now, schedule: configuration.schedule)
        let isSame = self.setting.withLock { known in
            known = known ?? setting
            return known?.cookies === cookies
        }
        guard isSame else {
            throw WaystationError(
                .invalidLogin,
                "the login of \(account) has cookies already: give all of its interceptors the same CookieStore"
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
                CookieStore of its own, or its token would travel with the other's requests
                """
            )
        }
        return cookies
    }

    func add(_ engine: Engine) {
        setting.withLock { setting in
            setting?.engines.removeAll { $0.engine == nil }
            setting?.engines.append(Setting.WeakEngine(engine: engine))
        }
    }

    var engines: [Engine] { setting.withLock { $0?.engines.compactMap(\.engine) ?? [] } }

    func report(_ kind: LoginEvent.Kind) {
        let event = LoginEvent(account: account, kind: kind)
        for engine in engines { engine.events.emit(LoadEvent(kind: .login(event))) }
    }
}
