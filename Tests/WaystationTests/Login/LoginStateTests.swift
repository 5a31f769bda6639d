import Foundation
import Synchronization
import Testing

@testable import Waystation

/// Tests the state machine of a login, event by event.
@Suite("The state of a login")
struct LoginStateTests {
    private typealias Attempt = LoginState.Attempt

    private let signIn = LoginState.Attempt(number: 1, reason: .signIn)

    @Test("lets loads continue while there is a token")
    func token() {
        var state = LoginState()
        #expect(state.enter(having: "t") == .goOn)
        #expect(!state.isAsking)
    }

    @Test("lets all loads wait for one attempt")
    func oneQuestion() {
        var state = LoginState()
        #expect(state.enter(having: nil) == .wait(1, asking: signIn))
        #expect(state.enter(having: nil) == .wait(2, asking: nil))
        #expect(state.enter(having: nil) == .wait(3, asking: nil))
        #expect(state.settle(1) == true)
        #expect(state.finish(1) == [1, 2, 3])
        #expect(state.enter(having: "t") == .goOn)
    }

    @Test("lets a load wait, without a new attempt, while the token is being put in place")
    func settling() {
        var state = LoginState()
        _ = state.enter(having: nil)
        #expect(state.settle(1) == true)
        #expect(state.enter(having: nil) == .wait(2, asking: nil))
        #expect(state.expire(1) == nil)
        #expect(state.finish(1) == [1, 2])
    }

    @Test("renews a token at the first load that was refused with it; the others wait for that renewal")
    func refused() {
        var state = LoginState()
        let renewal = Attempt(number: 1, reason: .renewal(refused: "old"))
        #expect(state.enter(having: "old", refused: "old") == .wait(1, asking: renewal))
        #expect(state.enter(having: "old", refused: "old") == .wait(2, asking: nil))
        #expect(state.settle(1) == true)
        #expect(state.finish(1) == [1, 2])
    }

    @Test("lets a load that was refused with an older token continue with the current one, also during a renewal")
    func refusedWithAnOlder() {
        var state = LoginState()
        #expect(state.enter(having: "new", refused: "old") == .goOn)
        _ = state.enter(having: "new", refused: "new")
        #expect(state.enter(having: "new", refused: "old") == .goOn)
    }

    @Test("lets a load that needs a login wait for a renewal that is under way")
    func needsDuringRenewal() {
        var state = LoginState()
        _ = state.enter(having: "old", refused: "old")
        #expect(state.enter(having: "old") == .wait(2, asking: nil))
    }

    @Test("renews the token for a load that was refused when the token is gone")
    func refusedWithoutToken() {
        var state = LoginState()
        #expect(
            state.enter(having: nil, refused: "old")
                == .wait(1, asking: Attempt(number: 1, reason: .renewal(refused: "old")))
        )
    }

    @Test("cancels the attempt when the last waiting load leaves, and not before")
    func leaving() {
        var state = LoginState()
        _ = state.enter(having: nil)
        _ = state.enter(having: nil)
        #expect(state.leave(1) == nil)
        #expect(state.leave(1) == nil)
        #expect(state.leave(2) == signIn)
        #expect(state.settle(1) == false)
        #expect(state.finish(1) == [])
        #expect(state.enter(having: nil) == .wait(3, asking: Attempt(number: 2, reason: .signIn)))
    }

    @Test("does not cancel an attempt whose token is being put in place")
    func leavingLate() {
        var state = LoginState()
        _ = state.enter(having: nil)
        #expect(state.settle(1) == true)
        #expect(state.leave(1) == nil)
        #expect(state.finish(1) == [])
        #expect(!state.isAsking)
    }

    @Test("ends the wait of all loads at the time limit, and drops a late token")
    func expiring() {
        var state = LoginState()
        _ = state.enter(having: nil)
        _ = state.enter(having: nil)
        #expect(state.expire(1) == [1, 2])
        #expect(state.expire(1) == nil)
        #expect(state.settle(1) == false)
    }

    @Test("ignores the time limit of an earlier attempt")
    func oldLimit() {
        var state = LoginState()
        _ = state.enter(having: nil)
        _ = state.finish(1)
        _ = state.enter(having: nil)
        #expect(state.expire(1) == nil)
        #expect(state.isAsking(2))
    }

    @Test("at a log-out ends the wait of all loads, cancels the attempt and drops its token")
    func logOut() {
        var state = LoginState()
        _ = state.enter(having: nil)
        _ = state.enter(having: nil)
        let ended = state.logOut()
        #expect(ended.waiters == [1, 2])
        #expect(ended.attempt == signIn)
        #expect(state.settle(1) == false)
        #expect(state.enter(having: nil) == .wait(3, asking: Attempt(number: 2, reason: .signIn)))
        #expect(state.finish(1) == [])
        #expect(state.isAsking(2))
    }

    @Test("a token that arrives while a refusal of the previous one is handled is used, and the provider is not asked")
    func renewedMeanwhile() throws {
        let read = DispatchSemaphore(value: 0)
        let clock: @Sendable () -> Date = {
            read.signal()
            return Date(timeIntervalSince1970: 1_800_000_000)
        }
        let provider = ScriptedProvider(["t3"])
        let cookies = CookieStore(now: clock)
        let cookie = LoginCookie.named("token", domain: "shop.example")
        let login = LoginSession(cookie: cookie) { try await provider.answer($0) }
        let interceptor = try Interceptor {
            $0.cookies = cookies
            $0.login = login
            $0.now = clock
            $0.schedule = { _, _ in }
        }
        try cookies.insert(cookie.holding(LoginToken("t1"), now: clock()))
        while read.wait(timeout: .now()) == .success {}
        let isOver = DispatchSemaphore(value: 0)
        try login.state.withLock { _ in
            DispatchQueue.global().async { _ = login.wait(refused: "t1", url: nil) { _ in isOver.signal() } }
            // The request has begun to read its token, and cannot continue before this block ends.
            read.wait()
            for _ in 0..<10_000 { sched_yield() }
            try cookies.insert(cookie.holding(LoginToken("t2"), now: .distantPast))
        }
        isOver.wait()
        #expect(provider.reasons.isEmpty)
        withExtendedLifetime(interceptor) {}
    }
}
