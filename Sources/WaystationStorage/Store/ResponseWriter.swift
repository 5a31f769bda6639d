public import Foundation
import Synchronization

/// Receives the body of one new response, and then makes it visible or forgets it.
///
/// Nothing blocks: bytes are gathered up to ``StoreLimits/inlineBodyLimit`` and then written to a staging file on the
/// store's write queue, in the order of the calls. Until its commit a response cannot be looked up, and a writer that
/// goes away without one leaves nothing. Calls for one writer must follow each other; after
/// ``commit(completion:)`` or ``abandon()`` they do nothing.
public final class ResponseWriter: Sendable {
    private struct State {
        var isOpen = true
        var gathered = Data()
        var length = 0
    }

    private enum Step {
        case none
        case spool(Data)
        case refuse(length: Int)
    }

    private let entry: NewResponse
    private let store: ResponseStore
    private let spool: BodySpool
    private let moment: StoreMoment
    private let state = Mutex(State())

    init(entry: NewResponse, store: ResponseStore, spool: BodySpool, moment: StoreMoment) {
        self.entry = entry
        self.store = store
        self.spool = spool
        self.moment = moment
    }

    deinit { abandon() }

    /// Adds bytes to the body.
    ///
    /// A body that grows beyond what the store takes abandons its writer, with a ``StoreEvent/Kind/tooLarge`` event.
    public func append(_ data: Data) {
        let step = state.withLock { state -> Step in
            guard state.isOpen else { return .none }
            state.length += data.count
            guard state.length <= store.largestBody else {
                state.isOpen = false
                state.gathered = Data()
                return .refuse(length: state.length)
            }
            state.gathered.append(data)
            guard state.length > store.limits.inlineBodyLimit.bytes,
                state.gathered.count >= BlockChecksums.blockSize
            else { return .none }
            defer { state.gathered = Data() }
            return .spool(state.gathered)
        }
        switch step {
        case .none: break
        case .spool(let data): store.spool(data, to: spool)
        case .refuse(let length):
            store.discard(spool)
            store.reportTooLarge(entry.key, length: length)
        }
    }

    /// Makes the response visible, in the place of the variant with the same key and vary record.
    ///
    /// A response that was invalidated since it was asked for is not stored (``ResponseStore/begin(_:asOf:)``).
    /// A small body may be written a little later, with others (``ResponseStore``); this writer's caller need not wait.
    /// - Parameter completion: Called on the store's write queue with the identifier of the stored response, or with
    ///   the reason why it was not stored. By then the store has reported its event.
    public func commit(completion: @escaping @Sendable (Result<Int64, StoreError>) -> Void = { _ in }) {
        guard let (rest, length) = close() else {
            return completion(.failure(StoreError(.abandoned, "the writer was already committed or abandoned")))
        }
        store.commit(entry, rest: rest, length: length, spool: spool, moment: moment, completion: completion)
    }

    /// Makes the response visible and waits until it is.
    ///
    /// - Returns: The identifier of the stored response.
    @discardableResult
    public func commit() async throws(StoreError) -> Int64 {
        let result = await withCheckedContinuation { continuation in
            commit { continuation.resume(returning: $0) }
            store.writeGathered()
        }
        return try result.get()
    }

    /// Forgets the response and removes what was written of it.
    public func abandon() {
        if close() != nil { store.discard(spool) }
    }

    private func close() -> (rest: Data, length: Int)? {
        state.withLock { state in
            guard state.isOpen else { return nil }
            state.isOpen = false
            defer { state.gathered = Data() }
            return (state.gathered, state.length)
        }
    }
}
