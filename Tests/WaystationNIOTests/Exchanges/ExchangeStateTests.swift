#if NIO
import NIOCore
import Testing
import Waystation

@testable import WaystationNIO

@Suite("The state of an exchange")
struct ExchangeStateTests {
    private let first = ConnectionID(number: 1)
    private let second = ConnectionID(number: 2)
    private let lost = ExchangeFailure(.connectionLost, "lost")

    private func running(_ method: String = "GET", isReused: Bool = false) -> ExchangeState {
        var state = ExchangeState(method: method)
        #expect(state.begin(on: first, isReused: isReused) == true)
        return state
    }

    @Test("goes from waiting over its connection to its end")
    func complete() {
        var state = ExchangeState(method: "GET")
        #expect(state.isQueued)
        #expect(state.connection == nil)
        #expect(state.begin(on: first, isReused: false) == true)
        #expect(state.begin(on: second, isReused: false) == false)
        #expect(state.connection == first)
        #expect(state.receiveHead(status: 200) == .deliver)
        #expect(state.receiveHead(status: 200) == .ignore)
        #expect(state.end(nil, isRepeatable: true) == .complete)
        #expect(state.isOver)
        #expect(state.end(lost, isRepeatable: true) == .ignore)
        #expect(state.cancel() == .nothing)
    }

    @Test("is retried five times at most")
    func retries() {
        var state = ExchangeState(method: "GET")
        for _ in 0..<5 {
            #expect(state.begin(on: first, isReused: true) == true)
            #expect(state.end(lost, isRepeatable: true) == .retry(after: .zero))
            #expect(state.isQueued)
        }
        #expect(state.begin(on: first, isReused: true) == true)
        #expect(state.end(lost, isRepeatable: true) == .fail(TransportFailure(.badServerResponse, "lost")))
    }

    @Test("A dropped connection leads to a retry if it was used before, and the method is idempotent or no byte came")
    func dropped() {
        for method in ["GET", "HEAD", "PUT", "DELETE", "OPTIONS"] {
            var reused = running(method, isReused: true)
            #expect(reused.end(lost, isRepeatable: true) == .retry(after: .zero))
        }
        let failed = ExchangeState.End.fail(TransportFailure(.badServerResponse, "lost"))
        var fresh = running()
        #expect(fresh.end(lost, isRepeatable: true) == failed)
        var post = running("POST", isReused: true)
        #expect(post.end(lost, isRepeatable: true) == failed)
        var unanswered = lost
        unanswered.isUnanswered = true
        var kept = running("POST", isReused: true)
        #expect(kept.end(unanswered, isRepeatable: true) == .retry(after: .zero))
        var new = running("POST")
        #expect(new.end(unanswered, isRepeatable: true) == failed)
        var invalidPost = running("POST", isReused: true)
        var notLost = ExchangeFailure(.invalidResponse, "broken")
        notLost.isUnanswered = true
        #expect(invalidPost.end(notLost, isRepeatable: true) != .retry(after: .zero))
        var stream = running("PUT", isReused: true)
        #expect(stream.end(lost, isRepeatable: false) == failed)
        var broken = running(isReused: true)
        let invalid = ExchangeFailure(.invalidResponse, "broken")
        #expect(broken.end(invalid, isRepeatable: true) == .fail(TransportFailure(.unknown, "broken")))
    }

    @Test("A request that was certainly not processed is retried whatever its method")
    func unprocessed() {
        let failure = ExchangeFailure.unprocessed(.nothingAnswered, "refused stream")
        var state = running("POST")
        #expect(state.end(failure, isRepeatable: true) == .retry(after: .zero))
        var stream = running("POST")
        #expect(
            stream.end(failure, isRepeatable: false) == .fail(TransportFailure(.badServerResponse, "refused stream"))
        )
    }

    @Test(
        "Refusals lead to a few retries after pauses that grow, or to some more if the server answers others meanwhile",
        arguments: [(ExchangeFailure.Unprocessed.nothingAnswered, 5), (.othersAnswered, 20)]
    )
    func refusals(meanwhile: ExchangeFailure.Unprocessed, limit: Int) {
        let failure = ExchangeFailure.unprocessed(meanwhile, "refused stream")
        let pauses: [Int64] = [0, 100, 200, 400, 800] + [Int64](repeating: 1000, count: 15)
        var state = ExchangeState(method: "GET")
        for pause in pauses.prefix(limit) {
            #expect(state.begin(on: first, isReused: true) == true)
            #expect(state.end(failure, isRepeatable: true) == .retry(after: .milliseconds(pause)))
        }
        #expect(state.begin(on: first, isReused: true) == true)
        #expect(state.end(failure, isRepeatable: true) == .fail(TransportFailure(.badServerResponse, "refused stream")))
    }

    @Test("A change to another connection needs no pause, and has a limit of its own")
    func changes() {
        let failure = ExchangeFailure.unprocessed(.connectionEnded, "GOAWAY")
        var state = ExchangeState(method: "GET")
        for number in 0..<100 {
            #expect(state.begin(on: first, isReused: true) == true)
            #expect(state.end(failure, isRepeatable: true) == .retry(after: .zero), "\(number)")
        }
        #expect(state.begin(on: first, isReused: true) == true)
        #expect(state.end(lost, isRepeatable: true) == .retry(after: .zero))
        #expect(state.begin(on: first, isReused: true) == true)
        #expect(state.end(failure, isRepeatable: true) == .fail(TransportFailure(.badServerResponse, "GOAWAY")))
    }

    @Test("A connection that another load broke leads to a retry on a new one, if the method is idempotent")
    func broken() {
        var failure = ExchangeFailure(.invalidResponse, "broken")
        failure.suggestsRetry = true
        var state = ExchangeState(method: "GET")
        for pause in [0, 100, 200, 400, 800] as [Int64] {
            #expect(state.begin(on: first, isReused: false) == true)
            #expect(state.end(failure, isRepeatable: true) == .retry(after: .milliseconds(pause)))
        }
        #expect(state.begin(on: first, isReused: false) == true)
        #expect(state.end(failure, isRepeatable: true) == .fail(TransportFailure(.unknown, "broken")))
        var post = running("POST")
        #expect(post.end(failure, isRepeatable: true) == .fail(TransportFailure(.unknown, "broken")))
    }

    @Test("is not retried after its head")
    func afterHead() {
        var state = running(isReused: true)
        _ = state.receiveHead(status: 200)
        #expect(state.end(lost, isRepeatable: true) == .fail(TransportFailure(.unknown, "lost")))
    }

    @Test("A status outside of 100 to 999 fails it", arguments: [-1, 0, 99, 1000, .max])
    func statuses(status: Int) {
        var state = running()
        guard case .fail(let failure) = state.receiveHead(status: status) else {
            Issue.record("The status \(status) was accepted.")
            return
        }
        #expect(failure.code == .unsupportedURL)
        #expect(failure.explanation.contains("\(status)"))
    }

    @Test("Cancelling takes it away from where it is, once")
    func cancel() {
        var queued = ExchangeState(method: "GET")
        #expect(queued.cancel() == .leaveQueue)
        #expect(queued.cancel() == .nothing)
        #expect(queued.begin(on: first, isReused: false) == false)
        var state = running()
        #expect(state.cancel() == .leaveConnection(first))
        #expect(state.receiveHead(status: 200) == .ignore)
        #expect(state.end(nil, isRepeatable: true) == .ignore)
        #expect(state.fail() == .nothing)
        #expect(state.isCancelled)
    }

    @Test("Cancelling between the failure and its delivery counts")
    func cancelAfterFailure() {
        var state = running()
        #expect(state.fail() == .leaveConnection(first))
        #expect(!state.isCancelled)
        #expect(state.cancel() == .nothing)
        #expect(state.isCancelled)
    }
}
#endif
