import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

/// An app with a login, an origin that answers as the test scripts it, and a clock whose timers the test fires.
///
/// Loopback counts as secure, so that the token's cookie can have the attributes of a real one.
final class LoginFixture: Sendable {
    typealias Script = @Sendable (ScriptedOrigin.Request) -> ScriptedOrigin.Response

    let origin: ScriptedOrigin
    let clock = ManualClock()
    let provider: ScriptedProvider
    let cookies: CookieStore
    let login: LoginSession
    let cache: ResponseCache
    let storage: HTTPCookieStorage
    let credentials: URLCredentialStorage
    let interceptor: Interceptor
    let session: URLSession
    private let directory: TemporaryDirectory

    /// An app that shares no cache and no storage with another one.
    convenience init(
        _ tokens: [String] = ["t1", "t2", "t3"],
        via route: Route = .network,
        requiresLogin: LoginRequirement = .marked,
        rules: [Rule]? = nil,
        delegate: RecordingDelegate? = nil,
        through transport: (any Transport)? = nil,
        script: @escaping Script
    ) throws {
        try self.init(
            ScriptedProvider(tokens),
            via: route,
            requiresLogin: requiresLogin,
            rules: rules,
            delegate: delegate,
            through: transport,
            origin: ScriptedOrigin(script: script)
        )
    }

    init(
        _ provider: ScriptedProvider,
        account: String = "alice",
        via route: Route = .network,
        requiresLogin: LoginRequirement = .marked,
        rules: [Rule]? = nil,
        delegate: RecordingDelegate? = nil,
        through transport: (any Transport)? = nil,
        origin: ScriptedOrigin,
        cache shared: ResponseCache? = nil,
        storage given: HTTPCookieStorage? = nil
    ) throws {
        directory = try TemporaryDirectory()
        self.origin = origin
        self.provider = provider
        let clock = clock
        let cache = try shared ?? ResponseCache(directory: directory.url, environment: .patient, now: clock.now)
        let cookies = CookieStore(rules: CookieRules(isTrustworthyLoopback: true), now: clock.now)
        let login = LoginSession(
            account: account,
            cookie: .named("token", domain: "127.0.0.1", isHostOnly: true)
        ) { [provider] in try await provider.answer($0) }
        (self.cache, self.cookies, self.login) = (cache, cookies, login)
        interceptor = try Interceptor {
            $0.rules =
                rules ?? [
                    .allow("http://127.0.0.1:*/**", via: route, requiresLogin: requiresLogin),
                    .allow("http://localhost:*/**", via: route, requiresLogin: requiresLogin),
                ]
            $0.cache = cache
            $0.cookies = cookies
            $0.login = login
            if let transport { $0.makeTransport = { _ in transport } }
            $0.now = clock.now
            $0.schedule = clock.schedule
        }
        let configuration = URLSessionConfiguration.ephemeral
        if let given { configuration.httpCookieStorage = given }
        configuration.timeoutIntervalForRequest = 600
        storage = try #require(configuration.httpCookieStorage)
        credentials = try #require(configuration.urlCredentialStorage)
        session = URLSession(
            configuration: configuration.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
    }

    /// Puts a token into the store, as if an earlier login had.
    func insertToken(_ value: String) throws {
        try cookies.insert(
            Cookie(
                name: "token",
                value: value,
                domain: "127.0.0.1",
                isHostOnly: true,
                isSecure: true,
                creation: clock.now()
            )
        )
    }

    /// Loads a target of the origin.
    @discardableResult
    func load(_ target: String = "/", _ fields: [String: String] = [:]) async throws -> (status: Int, body: String) {
        var request = URLRequest(url: origin.url(target))
        request.timeoutInterval = 600
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await session.data(for: request)
        return ((response as? HTTPURLResponse)?.statusCode ?? 0, String(decoding: data, as: UTF8.self))
    }

    /// Loads, and returns the failure: the code of the error, and that of the underlying `WaystationError`.
    func failure(_ target: String = "/") async -> Failure? {
        do {
            try await load(target)
            return nil
        } catch {
            return Failure(error)
        }
    }

    /// The `Cookie` field of each request that the origin saw.
    var seen: [String?] { origin.requests.map { $0.value(of: "Cookie") } }

    /// Waits until this many loads wait for the login.
    func waitForWaiters(_ count: Int) async {
        #expect(await eventually { login.state.withLock({ $0.waiters.count }) == count })
    }

    /// Lets the time limit of the waiting requests pass.
    ///
    /// It may be set only after the requests have begun to wait.
    func passTimeLimit() async {
        #expect(
            await eventually {
                clock.fire()
                return login.state.withLock({ $0.waiters.isEmpty })
            }
        )
    }

    /// Waits for an event.
    func event(_ events: AsyncStream<LoadEvent>, where isExpected: (LoadEvent.Kind) -> Bool) async {
        for await event in events where isExpected(event.kind) { break }
    }
}

/// The failure of a load.
struct Failure: Equatable {
    let code: URLError.Code?
    let reason: WaystationError.Code?

    init(_ code: URLError.Code, _ reason: WaystationError.Code?) {
        self.code = code
        self.reason = reason
    }

    init(_ error: any Error) {
        code = (error as? URLError)?.code
        reason = ((error as? URLError)?.userInfo[NSUnderlyingErrorKey] as? WaystationError)?.code
    }

    static let loggedOut = Failure(.userCancelledAuthentication, .loggedOut)
}

/// A provider of tokens under a test's control.
final class ScriptedProvider: Sendable {
    struct Refusal: Error {}

    private struct State {
        var tokens: ArraySlice<String>
        var reasons: [LoginReason] = []
        var cancelled = 0
        var watchers: [(Int, CheckedContinuation<Void, Never>)] = []
    }

    private let state: Mutex<State>
    /// The provider waits at this door before it answers; nil answers at once.
    private let door: Door?

    /// Returns these tokens, one for each call, and throws when none is left.
    init(_ tokens: [String], behind door: Door? = nil) {
        state = Mutex(State(tokens: tokens[...]))
        self.door = door
    }

    /// The reason of each call.
    var reasons: [LoginReason] { state.withLock { $0.reasons } }

    /// How often the provider's task was cancelled while it waited.
    var cancelled: Int { state.withLock { $0.cancelled } }

    func answer(_ reason: LoginReason) async throws -> LoginToken {
        let due = state.withLock { state in
            state.reasons.append(reason)
            let due = state.watchers.filter { $0.0 <= state.reasons.count }
            state.watchers.removeAll { $0.0 <= state.reasons.count }
            return due
        }
        for watcher in due { watcher.1.resume() }
        await door?.pass()
        if Task.isCancelled { state.withLock { $0.cancelled += 1 } }
        guard let token = state.withLock({ $0.tokens.popFirst() }) else { throw Refusal() }
        return LoginToken(token)
    }

    /// Waits until the provider was called this many times.
    func waitForQuestions(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.reasons.count < count { state.watchers.append((count, continuation)) }
                return state.reasons.count >= count
            }
            if isDue { continuation.resume() }
        }
    }
}

/// A door at which tasks wait until the test, or a cancel that it does not ignore, opens it.
final class Door: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())
    private let ignoresCancel: Bool

    init(ignoringCancel: Bool = false) { ignoresCancel = ignoringCancel }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for one in waiting { one.resume() }
    }

    func pass() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        } onCancel: {
            if !ignoresCancel { open() }
        }
    }
}
