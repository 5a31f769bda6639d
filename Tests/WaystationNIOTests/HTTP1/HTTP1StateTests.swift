#if NIO
import Testing

@testable import WaystationNIO

@Suite("The state of an HTTP/1.1 connection")
struct HTTP1StateTests {
    private func head(
        _ framing: EngineRequestHead.Framing = .none,
        _ fields: [(name: String, value: String)] = []
    ) -> EngineRequestHead {
        EngineRequestHead(
            method: "GET",
            scheme: "http",
            authority: "h",
            target: "/",
            fields: fields,
            framing: framing
        )
    }

    private func begun(_ head: EngineRequestHead, interimLimit: Int = 2) -> HTTP1State {
        var state = HTTP1State(interimLimit: interimLimit)
        state.begin(head)
        return state
    }

    @Test("The connection is kept after a complete exchange")
    func kept() {
        var state = begun(head())
        #expect(state.isBusy)
        #expect(state.receiveHead(status: 200, isKeptAlive: true) == .deliver)
        #expect(state.hasHead)
        #expect(state.receiveEnd() == .keep)
        #expect(!state.isBusy)
    }

    @Test("The connection is closed if the server or the request says so")
    func closed() {
        var server = begun(head())
        _ = server.receiveHead(status: 200, isKeptAlive: false)
        #expect(server.receiveEnd() == .close)
        for value in ["close", "x, Close", " close "] {
            var client = begun(head(.none, [("connection", value)]))
            _ = client.receiveHead(status: 200, isKeptAlive: true)
            #expect(client.receiveEnd() == .close)
        }
    }

    @Test("The connection is closed after a response that came before the whole request was sent")
    func early() {
        for (status, stops) in [(200, false), (302, false), (400, true), (503, true)] {
            var state = begun(head(.length(5)))
            #expect(state.sendsBody)
            #expect(state.receiveHead(status: status, isKeptAlive: true) == .deliver)
            #expect(state.sendsBody == !stops)
            #expect(state.receiveEnd() == .close)
        }
        var state = begun(head(.unknownLength))
        state.sentBody()
        _ = state.receiveHead(status: 400, isKeptAlive: true)
        #expect(state.receiveEnd() == .keep)
    }

    @Test("Interim responses are skipped, up to the limit")
    func interim() {
        var state = begun(head())
        #expect(state.receiveHead(status: 103, isKeptAlive: true) == .skip)
        #expect(state.receiveHead(status: 100, isKeptAlive: true) == .skip)
        guard case .fail(let failure) = state.receiveHead(status: 103, isKeptAlive: true) else {
            Issue.record("The third interim response was accepted.")
            return
        }
        #expect(failure.kind == .limitExceeded)
    }

    @Test("Another protocol is refused")
    func upgrade() {
        var state = begun(head())
        guard case .fail = state.receiveHead(status: 101, isKeptAlive: true) else {
            Issue.record("101 was accepted.")
            return
        }
    }

    @Test("A response without a request, and a second one, fail")
    func unasked() {
        var idle = HTTP1State(interimLimit: 2)
        #expect(idle.receiveHead(status: 200, isKeptAlive: true) != .deliver)
        var state = begun(head())
        _ = state.receiveHead(status: 200, isKeptAlive: true)
        #expect(state.receiveHead(status: 200, isKeptAlive: true) != .deliver)
    }

    @Test("With Expect: 100-continue the body waits for 100, for the time-out, or is never sent")
    func continued() {
        let expecting = head(.length(5), [("Expect", "100-Continue")])
        var asked = begun(expecting)
        #expect(asked.awaitsContinue)
        #expect(!asked.sendsBody)
        #expect(asked.receiveHead(status: 103, isKeptAlive: true) == .skip)
        #expect(asked.receiveHead(status: 100, isKeptAlive: true) == .startBody)
        #expect(asked.sendsBody)

        var silent = begun(expecting)
        silent.continueTimedOut()
        #expect(silent.sendsBody)

        var refused = begun(expecting)
        #expect(refused.receiveHead(status: 200, isKeptAlive: true) == .deliver)
        refused.continueTimedOut()
        #expect(!refused.sendsBody)
        #expect(refused.receiveEnd() == .close)
    }

    @Test("Closing waits for the exchange that is running")
    func closeWhenIdle() {
        var idle = HTTP1State(interimLimit: 2)
        #expect(idle.closeWhenIdle() == true)
        var state = begun(head())
        #expect(state.closeWhenIdle() == false)
        _ = state.receiveHead(status: 200, isKeptAlive: true)
        #expect(state.receiveEnd() == .close)
    }
}
#endif
