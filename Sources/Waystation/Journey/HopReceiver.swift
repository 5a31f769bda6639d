import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Receives the response for one trip of a journey.
///
/// It is a journey and a number, without a state of its own.
struct HopReceiver: FetchWaiter {
    let journey: Journey
    let trip: Int

    var id: FetchWaiterID { FetchWaiterID(object: ObjectIdentifier(journey), number: trip) }

    func transportDidReceive(_ head: ResponseHead) { journey.receive(head, for: trip) }

    func transportDidReceive(_ part: Data) { journey.receive(part, for: trip) }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        journey.didSend(count, total: total, expected: expected, for: trip)
    }

    func transportDidEnd(_ error: (any Error)?) { journey.receiveEnd(error, for: trip) }

    func fetchDidAnswer(_ answer: Answer) { journey.receive(answer, for: trip) }

    func fetchIsNotShared(_ reason: UnsharedReason) { journey.askAgain(trip, because: reason) }
}
