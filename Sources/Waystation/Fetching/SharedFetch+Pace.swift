import Dispatch
import Foundation
import Synchronization
import WaystationStorage
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The pace of a fetch: its exchange rests while no load can take more, and while the store's disk is too far behind.
extension SharedFetch {
    /// The number of bytes that may wait for the store's disk.
    static let unwrittenLimit = 8 << 20

    /// Records whether a waiter can take more; when no waiter can, the exchange rests.
    func rest(_ waiter: any FetchWaiter, _ rests: Bool) {
        state.withLock { $0.audience.rest(waiter.id, rests) }
        keepPace()
    }

    /// Makes the exchange rest until the store has written most of the bytes that it was given.
    func waitForDisk() {
        let isFirst = state.withLock { state in
            defer { state.isDiskFull = true }
            return !state.isDiskFull && !state.hasEnded
        }
        guard isFirst else { return }
        keepPace()
        checkDisk()
    }

    private func checkDisk() {
        // A disk that hangs has no unwritten bytes, so this ends.
        DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(5)) { [weak self] in
            guard let self, !state.withLock(\.hasEnded) else { return }
            guard cache.store.unwrittenBytes <= Self.unwrittenLimit / 2 else { return checkDisk() }
            state.withLock { $0.isDiskFull = false }
            keepPace()
        }
    }

    func keepPace() {
        while let (exchange, pauses) = state.withLock({ state -> ((any TransportExchange), Bool)? in
            state.pace.isPaused = state.isDiskFull || state.audience.isResting
            return state.exchange.flatMap { exchange in state.pace.nextCall().map { (exchange, $0) } }
        }) {
            if pauses { exchange.pause() } else { exchange.resume() }
            state.withLock { $0.pace.callEnded() }
        }
    }
}
