import Dispatch
import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("The pace of a session's transfers")
struct TransferPaceTests {
    /// A pace whose turn has just ended, with all calls made except `waiting` of them.
    private func resting(waiting: Int) -> TransferPace {
        var pace = TransferPace()
        for number in 1...TransferPace.turn {
            let rests = pace.callQueued()
            #expect(rests == (number == TransferPace.turn))
        }
        for _ in waiting..<TransferPace.turn { pace.callMade() }
        return pace
    }

    @Test("makes transfers rest after a turn, and continue when no call and no byte waits")
    func turns() {
        var pace = resting(waiting: 0)
        // A call that is already running when the transfers begin to rest still ends.
        let restsTwice = pace.callQueued()
        pace.callMade()
        #expect(pace.isResting && !restsTwice)
        let goesOn = pace.goesOn(backlog: 0, isOverdue: false)
        #expect(goesOn && !pace.isResting)
        let restsAgain = (1...TransferPace.turn).map { _ in pace.callQueued() }
        #expect(restsAgain.firstIndex(of: true) == TransferPace.turn - 1)
    }

    @Test("makes transfers rest while too many calls of the delegate wait")
    func calls() {
        var pace = resting(waiting: TransferPace.waitingLimit + 1)
        let goesOnBefore = pace.goesOn(backlog: 0, isOverdue: false)
        pace.callMade()
        let goesOnAfter = pace.goesOn(backlog: 0, isOverdue: false)
        #expect(!goesOnBefore && goesOnAfter)
    }

    @Test("makes transfers rest while too many bytes wait for their tasks")
    func backlog() {
        var pace = resting(waiting: 0)
        let goesOnOver = pace.goesOn(backlog: TransferPace.backlogLimit + 1, isOverdue: false)
        let goesOnAt = pace.goesOn(backlog: TransferPace.backlogLimit, isOverdue: false)
        #expect(!goesOnOver && goesOnAt)
    }

    @Test("makes transfers continue for one call after a long rest, whatever waits")
    func overdue() {
        var pace = resting(waiting: 0)
        let goesOn = pace.goesOn(backlog: .max, isOverdue: true)
        let restsAgain = pace.callQueued()
        #expect(goesOn && restsAgain)
    }

    @Test("has a transfer queue, which is found and targets the session's work queue")
    func queue() throws {
        let session = URLSession(configuration: .ephemeral)
        let queue = try #require(FoundationInternals.transferQueue(of: session))
        #expect(queue.label == "MultiHandle.isolation")
        let key = DispatchSpecificKey<Bool>()
        try #require(FoundationInternals.workQueue(of: session)).setSpecific(key: key, value: true)
        #expect(queue.sync { DispatchQueue.getSpecific(key: key) } == true)
    }
}
