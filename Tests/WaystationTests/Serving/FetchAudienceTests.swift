import Foundation
import FoundationNetworking
import Synchronization
import Testing

@testable import Waystation

@Suite("The waiters of a shared fetch")
struct FetchAudienceTests {
    private var audience = FetchAudience()
    private let first = ListedWaiter()
    private let second = ListedWaiter()

    /// Makes all pending calls.
    private mutating func makeCalls() {
        while let call = audience.nextCall() {
            call()
            audience.callEnded()
        }
    }

    private mutating func deliver(_ text: String) {
        audience.callAll(delivering: text.utf8.count) { $0.transportDidReceive(Data(text.utf8)) }
    }

    @Test("get the same calls in the same order, whenever they join")
    mutating func replay() {
        audience.join(first)
        deliver("a")
        deliver("b")
        audience.join(second)
        deliver("c")
        makeCalls()
        #expect(first.calls == ["a", "b", "c"])
        #expect(second.calls == ["a", "b", "c"])
    }

    @Test("are paused when all loads among them are; a renewal in the background takes everything and counts for none")
    mutating func paused() throws {
        audience.join(first)
        audience.join(try #require(Renewal(under: nil)))
        let before = audience.isPaused
        audience.pause(first.id, true)
        let alone = audience.isPaused
        audience.join(second)
        let joined = audience.isPaused
        audience.pause(second.id, true)
        let both = audience.isPaused
        _ = audience.leave(first)
        audience.pause(second.id, false)
        #expect([before, alone, joined, both, audience.isPaused] == [false, true, false, true, false])
    }

    @Test("are paused as well when one of them, which can take no more, has 8 MiB waiting")
    mutating func behind() {
        audience.join(first)
        audience.join(second)
        audience.pause(first.id, true)
        audience.callAll(delivering: 8 << 20) { $0.transportDidReceive(Data()) }
        let atLimit = audience.isPaused
        audience.callAll(delivering: 1) { $0.transportDidReceive(Data()) }
        let above = audience.isPaused
        audience.pause(first.id, false)
        let taken = audience.isPaused
        audience.pause(first.id, true)
        #expect([atLimit, above, taken, audience.isPaused] == [false, true, false, false])
    }

    @Test("may no longer join when more of the body has arrived than is kept for them")
    mutating func tooLate() {
        audience.join(first)
        audience.callAll(delivering: 1 << 20) { $0.transportDidReceive(Data()) }
        #expect(audience.isOpen)
        deliver("a")
        #expect(!audience.isOpen)
        makeCalls()
        #expect(first.calls == ["", "a"])
    }

    @Test("but the first ask again by themselves when the response is for one of them")
    mutating func alone() {
        audience.join(first)
        audience.join(second)
        audience.keepOne(because: .response)
        deliver("a")
        makeCalls()
        #expect(first.calls == ["a"])
        #expect(second.calls == ["not shared"])
        #expect(audience.count == 1)
        #expect(!audience.isOpen)
    }

    @Test("but the first load ask again when a renewal in the background came before it")
    mutating func aloneAfterRenewal() throws {
        audience.join(try #require(Renewal(under: nil)))
        audience.join(first)
        audience.join(second)
        audience.keepOne(because: .response)
        deliver("a")
        makeCalls()
        #expect(first.calls == ["a"])
        #expect(second.calls == ["not shared"])
        #expect(audience.count == 1)
        #expect(audience.hasLoads)
    }

    @Test("count as renewals in the background when their loads have got another answer")
    mutating func detached() {
        audience.join(first)
        audience.detach(first.id)
        let alone = (audience.hasLoads, audience.isPaused)
        audience.join(second)
        audience.pause(second.id, true)
        #expect(alone == (false, false))
        #expect(audience.hasLoads && audience.isPaused)
        audience.keepOne(because: .response)
        deliver("a")
        makeCalls()
        #expect(first.calls == ["not shared"])
        #expect(second.calls == ["a"])
        let isLast = audience.leave(second)
        // One that has left already is not a waiter any more.
        audience.detach(second.id)
        audience.join(second)
        #expect(isLast && audience.hasLoads)
    }

    @Test("get their calls from one thread at a time, also those that were pending when the fetch ended")
    mutating func oneAtATime() throws {
        audience.join(first)
        deliver("a")
        deliver("b")
        audience.close()
        let next = audience.nextCall()
        let call = try #require(next)
        let another = audience.nextCall()
        #expect(another == nil)
        call()
        audience.callEnded()
        makeCalls()
        #expect(first.calls == ["a", "b"])
        #expect(audience.count == 0)
    }

    @Test("leave one by one, and the last one is known; a renewal is not a load")
    mutating func leaving() throws {
        let renewal = try #require(Renewal(under: nil))
        audience.join(renewal)
        #expect(audience.count == 1)
        #expect(!audience.hasLoads)
        audience.join(first)
        #expect(audience.hasLoads)
        var wasLast: [Bool] = []
        for waiter: any FetchWaiter in [second, first, renewal, renewal] {
            wasLast.append(audience.leave(waiter))
        }
        #expect(wasLast == [false, false, true, false])
    }
}

/// A waiter that lists its calls.
private final class ListedWaiter: FetchWaiter {
    private let list = Mutex<[String]>([])

    var id: FetchWaiterID { FetchWaiterID(object: ObjectIdentifier(self), number: 0) }
    var calls: [String] { list.withLock { $0 } }

    private func add(_ call: String) { list.withLock { $0.append(call) } }

    func transportDidReceive(_ head: ResponseHead) { add("\(head.statusCode)") }
    func transportDidReceive(_ part: Data) { add(String(decoding: part, as: UTF8.self)) }
    func fetchDidAnswer(_: Answer) { add("answer") }
    func transportDidEnd(_ error: (any Error)?) { add(error == nil ? "end" : "failure") }
    func fetchIsNotShared(_: UnsharedReason) { add("not shared") }
}
