import Dispatch
import Foundation
import FoundationNetworking
import Testing

@testable import Waystation

@Suite("The pace of a session's transfers")
struct TransferPaceTests {
    /// A pace whose turn has just ended, with all calls made but `waiting`.
    private func resting(waiting: Int) -> TransferPace {
        var pace = TransferPace()
        for number in 1...TransferPace.turn {
            #expect(pace.callQueued() == (number == TransferPace.turn))
        }
        for _ in waiting..<TransferPace.turn { pace.callMade() }
        return pace
    }

    @Test("they rest after a turn, and go on when nothing waits")
    func turns() {
        var pace = resting(waiting: 0)
        #expect(pace.isResting)
        // What runs when they are told to rest still ends.
        #expect(!pace.callQueued())
        pace.callMade()
        #expect(pace.goesOn(backlog: 0, isOverdue: false))
        #expect(!pace.isResting)
        let restsAgain = (1...TransferPace.turn).map { _ in pace.callQueued() }
        #expect(restsAgain.firstIndex(of: true) == TransferPace.turn - 1)
    }

    @Test("they rest while calls of the delegate wait")
    func calls() {
        var pace = resting(waiting: TransferPace.waitingLimit + 1)
        #expect(!pace.goesOn(backlog: 0, isOverdue: false))
        pace.callMade()
        #expect(pace.goesOn(backlog: 0, isOverdue: false))
    }

    @Test("they rest while too many bytes wait for their tasks")
    func backlog() {
        var pace = resting(waiting: 0)
        #expect(!pace.goesOn(backlog: TransferPace.backlogLimit + 1, isOverdue: false))
        #expect(pace.goesOn(backlog: TransferPace.backlogLimit, isOverdue: false))
    }

    @Test("when they have rested for long they go on for one call, whatever waits")
    func overdue() {
        var pace = resting(waiting: 0)
        #expect(pace.goesOn(backlog: .max, isOverdue: true))
        #expect(pace.callQueued())
        #expect(pace.isResting)
    }

    @Test("the queue that they run on is found, and leads to the session's work queue")
    func queue() throws {
        let session = URLSession(configuration: .ephemeral)
        let queue = try #require(FoundationInternals.transferQueue(of: session))
        #expect(queue.label == "MultiHandle.isolation")
        let key = DispatchSpecificKey<Bool>()
        try #require(FoundationInternals.workQueue(of: session)).setSpecific(key: key, value: true)
        #expect(queue.sync { DispatchQueue.getSpecific(key: key) } == true)
    }
}
