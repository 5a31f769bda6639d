import Foundation
import FoundationNetworking

/// Whom a fetch tells: at most one head, parts and one end, or one answer instead of them all.
///
/// Calls come one at a time and in order, on any thread.
protocol FetchWaiter: AnyObject, Sendable {
    /// The head arrived.
    func fetchDidReceive(_ head: HTTPURLResponse)
    /// A part of the body arrived.
    func fetchDidReceive(_ part: Data)
    /// What is stored is the answer: the origin confirmed it, or it stands in.
    func fetchDidAnswer(_ answer: Answer)
    /// The exchange ended, complete when `error` is nil.
    func fetchDidEnd(_ error: (any Error)?)
    /// What came is for another waiter: ask again.
    func fetchIsNotShared(_ reason: UnsharedReason)
}

/// Why a waiter has to ask again.
enum UnsharedReason: Sendable {
    /// The response was meant for one request alone, and so the next will be.
    case response
    /// The trip failed; the next may be shared.
    case failure
}
