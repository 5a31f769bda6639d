import Foundation
import Synchronization
import WaystationSharing

/// The right to store the response to a request in the shared tier, as of the look-up that missed it.
///
/// A ticket with a lease is what other machines wait for: the lease ends with the ticket.
final class SharedTicket: Sendable {
    let request: SharedRequest
    let entry: TierKey
    let stamp: SharedStamp
    private let lease: Mutex<Data?>
    private let owner: SharedResponses

    init(_ request: SharedRequest, _ entry: TierKey, _ stamp: SharedStamp, lease: Data?, of owner: SharedResponses) {
        self.request = request
        self.entry = entry
        self.stamp = stamp
        self.lease = Mutex(lease)
        self.owner = owner
    }

    deinit { end() }

    /// Ends the lease, if the ticket still has one.
    func end() {
        if let lease = lease.withLock({ $0.take() }) { owner.endLease(lease, of: entry) }
    }
}
