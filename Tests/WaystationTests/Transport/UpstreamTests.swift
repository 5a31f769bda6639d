import Synchronization
import Testing
import Waystation

@Suite("The exchange of a receiver")
final class UpstreamTests: Sendable {
    private struct State: Downstream {
        var upstream = Upstream()
    }

    /// An exchange that records its calls, and may call its receiver within them.
    private final class Recorded: DetachableExchange {
        let name: String
        let calls: Calls
        let duringPause: @Sendable () -> Void

        init(_ name: String, _ calls: Calls, duringPause: @escaping @Sendable () -> Void = {}) {
            (self.name, self.calls, self.duringPause) = (name, calls, duringPause)
        }

        deinit { calls.add("release \(name)") }

        func pause() {
            calls.add("pause \(name)")
            duringPause()
        }

        func resume() { calls.add("resume \(name)") }
        func cancel() { calls.add("cancel \(name)") }
        func detach() { calls.add("detach \(name)") }
    }

    private final class Calls: Sendable {
        private let list = Mutex<[String]>([])

        /// The calls since the last look.
        var new: [String] {
            list.withLock { list in
                defer { list = [] }
                return list
            }
        }

        func add(_ call: String) { list.withLock { $0.append(call) } }
    }

    private let calls = Calls()
    private let state = Mutex(State())

    private func begin(_ number: Int) { _ = state.withLock { $0.upstream.begin(number) } }
    private func end() { _ = state.withLock { $0.upstream.end() } }
    private func leave(_ leaving: Upstream.Leaving) { state.withLock { $0.upstream.leave(leaving) }?.carryOut() }

    @Test("is left once, in the way that the receiver has chosen, and then released")
    func leaving() {
        for (number, leaving) in [(1, Upstream.Leaving.cancelling), (2, .detaching)] {
            begin(number)
            state.take(Recorded("\(number)", calls), number)
            #expect(calls.new == [])
            leave(leaving)
            leave(.cancelling)
            #expect(calls.new == ["\(number == 1 ? "cancel" : "detach") \(number)", "release \(number)"])
        }
    }

    @Test("is left as soon as the transport returns it, also if the receiver has begun the next ones meanwhile")
    func leavingEarly() {
        begin(1)
        leave(.cancelling)
        begin(3)
        leave(.detaching)
        begin(5)
        state.take(Recorded("5", calls), 5)
        state.take(Recorded("3", calls), 3)
        state.take(Recorded("1", calls), 1)
        #expect(calls.new == ["detach 3", "release 3", "cancel 1", "release 1"])
        leave(.cancelling)
        #expect(calls.new == ["cancel 5", "release 5"])
    }

    @Test("is only released if it ends, within its start, later, or by the next one")
    func ending() {
        begin(1)
        end()
        state.take(Recorded("1", calls), 1)
        begin(2)
        state.take(Recorded("2", calls), 2)
        end()
        leave(.cancelling)
        begin(3)
        state.take(Recorded("3", calls), 3)
        begin(4)
        #expect(calls.new == ["release 1", "release 2", "release 3"])
    }

    @Test("can be work that others have no use for, which a receiver that detaches lets go on")
    func notDetachable() {
        begin(1)
        state.take(CancellableWork { [calls] in calls.add("cancel work") }, 1)
        leave(.detaching)
        #expect(calls.new == [])
    }

    @Test("is paused and resumed once for each change of the receiver's demand, and the last change decides")
    func demand() {
        let changed = Mutex(false)
        begin(1)
        let exchange = Recorded("1", calls) { [self] in
            let isFirst = changed.withLock { changed in
                defer { changed = true }
                return !changed
            }
            // The receiver changes its mind while the call is being made.
            if isFirst { state.pause(false) }
        }
        state.take(exchange, 1)
        state.pause(false)
        #expect(calls.new == [])
        state.pause(true)
        #expect(calls.new == ["pause 1", "resume 1"])
        state.pause(true)
        state.pause(true)
        #expect(calls.new == ["pause 1"])
        state.pause(false)
        #expect(calls.new == ["resume 1"])
    }

    @Test("is paused as soon as the transport returns it, also if an earlier one was paused")
    func demandBefore() {
        state.pause(true)
        begin(1)
        state.take(Recorded("1", calls), 1)
        #expect(calls.new == ["pause 1"])
        begin(2)
        state.take(Recorded("2", calls), 2)
        #expect(calls.new == ["release 1", "pause 2"])
        end()
        state.pause(false)
        #expect(calls.new == ["release 2"])
    }
}
