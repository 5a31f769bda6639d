import Testing

@testable import Waystation

/// Conversations with the state machine of a login, event by event.
@Suite("Who waits for a login")
struct LoginStateTests {
    private typealias Attempt = LoginState.Attempt

    private let signIn = LoginState.Attempt(number: 1, reason: .signIn)

    @Test("nobody, while there is a token")
    func token() {
        var state = LoginState()
        #expect(state.enter(having: "t") == .goOn)
        #expect(!state.isAsking)
    }

    @Test("all that need it wait for one question")
    func oneQuestion() {
        var state = LoginState()
        #expect(state.enter(having: nil) == .wait(1, asking: signIn))
        #expect(state.enter(having: nil) == .wait(2, asking: nil))
        #expect(state.enter(having: nil) == .wait(3, asking: nil))
        #expect(state.settle(1) == true)
        #expect(state.finish(1) == [1, 2, 3])
        #expect(state.enter(having: "t") == .goOn)
    }

    @Test("who comes while the answer is put in place waits for that, and asks nothing")
    func settling() {
        var state = LoginState()
        _ = state.enter(having: nil)
        #expect(state.settle(1) == true)
        #expect(state.enter(having: nil) == .wait(2, asking: nil))
        #expect(state.expire(1) == nil)
        #expect(state.finish(1) == [1, 2])
    }

    @Test("the first of many that were refused with one token has it renewed, the others join")
    func refused() {
        var state = LoginState()
        let renewal = Attempt(number: 1, reason: .renewal(refused: "old"))
        #expect(state.enter(having: "old", refused: "old") == .wait(1, asking: renewal))
        #expect(state.enter(having: "old", refused: "old") == .wait(2, asking: nil))
        #expect(state.settle(1) == true)
        #expect(state.finish(1) == [1, 2])
    }

    @Test("who was refused with an older token than there is goes on with that, also during a renewal")
    func refusedWithAnOlder() {
        var state = LoginState()
        #expect(state.enter(having: "new", refused: "old") == .goOn)
        _ = state.enter(having: "new", refused: "new")
        #expect(state.enter(having: "new", refused: "old") == .goOn)
    }

    @Test("who needs a login waits for a renewal that is under way")
    func needsDuringRenewal() {
        var state = LoginState()
        _ = state.enter(having: "old", refused: "old")
        #expect(state.enter(having: "old") == .wait(2, asking: nil))
    }

    @Test("who was refused while the token has gone asks for a renewal")
    func refusedWithoutToken() {
        var state = LoginState()
        #expect(
            state.enter(having: nil, refused: "old")
                == .wait(1, asking: Attempt(number: 1, reason: .renewal(refused: "old")))
        )
    }

    @Test("the question is taken back when the last one leaves, and not before")
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

    @Test("an answer that is being put in place is not taken back")
    func leavingLate() {
        var state = LoginState()
        _ = state.enter(having: nil)
        #expect(state.settle(1) == true)
        #expect(state.leave(1) == nil)
        #expect(state.finish(1) == [])
        #expect(!state.isAsking)
    }

    @Test("when the time is over all that wait are told, and a late answer is dropped")
    func expiring() {
        var state = LoginState()
        _ = state.enter(having: nil)
        _ = state.enter(having: nil)
        #expect(state.expire(1) == [1, 2])
        #expect(state.expire(1) == nil)
        #expect(state.settle(1) == false)
    }

    @Test("the time limit of an earlier question means nothing to a later one")
    func oldLimit() {
        var state = LoginState()
        _ = state.enter(having: nil)
        _ = state.finish(1)
        _ = state.enter(having: nil)
        #expect(state.expire(1) == nil)
        #expect(state.isAsking(2))
    }

    @Test("a log-out tells all that wait, takes the question back and drops its answer")
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
}
