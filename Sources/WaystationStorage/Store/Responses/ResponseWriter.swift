public import Foundation
import Synchronization
import WaystationHTTP

/// Receives the body of one new response, and then makes the response visible or drops it.
///
/// No call blocks: bytes are collected in memory up to ``StoreLimits/inlineBodyLimit`` and then written to a staging
/// file on the store's write queue, in the order of the calls. A response cannot be looked up before its commit, and a
/// writer that is released without a commit leaves nothing behind. Calls to one writer must not overlap; after
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

    private let head: StoredHead
    private let store: ResponseStore
    private let spool: BodyStaging
    private let moment: StoreMoment
    private let state = Mutex(State())

    init(head: StoredHead, store: ResponseStore, spool: BodyStaging, moment: StoreMoment) {
        self.head = head
        self.store = store
        self.spool = spool
        self.moment = moment
    }

    deinit { abandon() }

    /// Whether the writer takes more bytes: it has neither committed nor abandoned the response.
    package var isOpen: Bool { state.withLock(\.isOpen) }

    /// Adds bytes to the body.
    ///
    /// A body that grows larger than the store accepts abandons its writer, with a ``StoreEvent/Kind/tooLarge`` event.
    ///
    /// - Parameter data: The bytes. The writer keeps them until the response is written, so they must not be memory that is
    ///   only lent (`Data(bytesNoCopy:count:deallocator:)` with `.none`).
    public func append(_ data: Data) {
        let step = state.withLock { state -> Step in
            guard state.isOpen else { return .none }
            state.length += data.count
            guard state.length <= store.largestBody else {
                state.isOpen = false
                state.gathered = Data()
                return .refuse(length: state.length)
            }
            // Most small bodies come in one part, which need not be copied.
            if state.gathered.isEmpty { state.gathered = data } else { state.gathered.append(data) }
            guard state.length > store.largestInlineBody(of: head),
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
            store.reportTooLarge(head.key, length: length)
        }
    }

    /// Makes the response visible, replacing the variant with the same key and vary key.
    ///
    /// A response that was invalidated since it was requested is not stored (``ResponseStore/begin(_:asOf:)``). A small
    /// body may be written a little later, together with others (``ResponseStore``); the caller need not wait for that.
    /// - Parameter completion: Called on the store's write queue with the identifier of the stored response, or with
    ///   the reason why it was not stored. The store has reported its event before that call.
    public func commit(completion: @escaping @Sendable (Result<Int64, StoreError>) -> Void = { _ in }) {
        commit(completion) { [head] _ in head }
    }

    /// Makes what has arrived visible as a part of the response; it is dropped if it could not be joined with others.
    ///
    /// - Parameters:
    ///   - offset: The place of the writer's bytes in the content of the response.
    ///   - completion: Called as that of ``commit(completion:)``.
    package func commitPart(
        at offset: Int,
        completion: @escaping @Sendable (Result<Int64, StoreError>) -> Void = { _ in }
    ) {
        commit(completion) { [head] in head.part(at: offset, length: $0) }
    }

    private func commit(
        _ completion: @escaping @Sendable (Result<Int64, StoreError>) -> Void,
        as head: (_ length: Int) -> StoredHead?
    ) {
        guard let (rest, length) = close() else {
            return completion(.failure(StoreError(.abandoned, "the writer was already committed or abandoned")))
        }
        guard let head = head(length) else {
            store.discard(spool)
            return completion(.failure(StoreError(.abandoned, "what has arrived is of no use as a part")))
        }
        store.commit(head, rest: rest, length: length, spool: spool, moment: moment, completion: completion)
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

    /// Drops the response and removes the bytes that were written for it.
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
