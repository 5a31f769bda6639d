import Foundation
import FoundationNetworking

/// The recipient of a fetch's result: at most one head, parts and one end, or one answer instead of all of them.
///
/// Calls are made one at a time and in order, on any thread.
protocol FetchWaiter: AnyObject, Sendable {
    /// The head arrived.
    func fetchDidReceive(_ head: HTTPURLResponse)
    /// A part of the body arrived.
    func fetchDidReceive(_ part: Data)
    /// A stored response is the answer: the origin confirmed it, or it replaces a failed exchange.
    func fetchDidAnswer(_ answer: Answer)
    /// The exchange ended, complete when `error` is nil.
    func fetchDidEnd(_ error: (any Error)?)
    /// The result of the fetch cannot be shared with this waiter, which must ask again.
    func fetchIsNotShared(_ reason: UnsharedReason)
}

/// The reason why a waiter must ask again.
enum UnsharedReason: Sendable {
    /// The response was meant for one request alone; the next one is expected to be as well.
    case response
    /// The trip failed; the next may be shared.
    case failure
}
