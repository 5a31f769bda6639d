import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The waiter of a renewal in the background: it ignores the result.
final class Renewal: FetchWaiter {
    private struct State {
        var place: LoginPlace?
        weak var fetch: SharedFetch?
        var hasEnded = false
    }

    private let state = Mutex(State())

    /// Begins a renewal among the loads of its login, so that a log-out ends it; nil when the user has logged out since
    /// the request got its cookies.
    init?(under ticket: LoginTicket?) {
        guard let ticket else { return }
        guard let place = ticket.enter(end: { [weak self] in self?.end($0) ?? false }) else { return nil }
        state.withLock { $0.place = place }
    }

    /// Records the fetch that the renewal waits for.
    func joined(_ fetch: SharedFetch) {
        let hasEnded = state.withLock { state in
            state.fetch = fetch
            return state.hasEnded
        }
        if hasEnded { fetch.leave(self) }
    }

    private func end(_ place: LoginPlace) -> Bool {
        let (fetch, isUnderWay) = state.withLock { state in
            state.hasEnded = true
            return (state.fetch, state.place != nil)
        }
        fetch?.leave(self)
        place.leave()
        return isUnderWay
    }

    private func leavePlace() {
        let place = state.withLock { $0.place.take() }
        place?.leave()
    }

    var id: FetchWaiterID { FetchWaiterID(object: ObjectIdentifier(self), number: 0) }
    var isLoad: Bool { false }

    func transportDidReceive(_: ResponseHead) {}
    func transportDidReceive(_: Data) {}
    func transportDidEnd(_: (any Error)?) { leavePlace() }
    func fetchDidAnswer(_: Answer) { leavePlace() }
    func fetchIsNotShared(_: UnsharedReason) { leavePlace() }
}
