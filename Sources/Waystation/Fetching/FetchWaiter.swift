import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The recipient of a fetch's result: at most one head, parts and one end, or one answer instead of all of them.
///
/// Calls are made one at a time and in order, on any thread.
protocol FetchWaiter: TransportReceiver {
    /// Names the waiter among those of its fetch.
    var id: FetchWaiterID { get }
    /// Whether it is a load, and not a renewal in the background.
    var isLoad: Bool { get }
    /// A stored response is the answer: the origin confirmed it, or it replaces a failed exchange.
    func fetchDidAnswer(_ answer: Answer)
    /// The result of the fetch cannot be shared with this waiter, which must ask again.
    func fetchIsNotShared(_ reason: UnsharedReason)
}

extension FetchWaiter {
    var isLoad: Bool { true }
}

/// The name of a waiter: an object, and a number for each time that the object asks.
struct FetchWaiterID: Equatable, Sendable {
    let object: ObjectIdentifier
    let number: Int
}

/// The reason why a waiter must ask again.
enum UnsharedReason: Sendable {
    /// The response was meant for one request alone; the next one is expected to be as well.
    case response
    /// The trip failed; the next may be shared.
    case failure
}
