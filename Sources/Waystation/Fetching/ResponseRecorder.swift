import HTTPTypes
import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// Writes a response into the store as it arrives; the response is committed when it has arrived complete.
final class ResponseRecorder: Sendable {
    private struct State {
        var writer: ResponseWriter?
        var count = 0
        /// A copy of the body so far; nil if none is wanted, or if the body is too long.
        var copy: Data?
        var copyLimit = 0
    }

    private let store: ResponseStore
    private let state = Mutex(State())

    init(_ store: ResponseStore) { self.store = store }

    deinit { end(isComplete: false) }

    /// Begins a recording with a head.
    ///
    /// - Parameters:
    ///   - head: The head that is stored with the body.
    ///   - key: The key under which the response is stored.
    ///   - length: The number of bytes of the body, if it is known.
    ///   - moment: When the request was sent. A response whose key was invalidated since then is not stored.
    ///   - copyLimit: The length up to which ``end(isComplete:ended:)`` returns a copy of the body; nil for no copy.
    func begin(
        _ head: StoredHead,
        under key: RequestKey,
        length: Int?,
        asOf moment: StoreMoment,
        copyingUpTo copyLimit: Int? = nil
    ) {
        var head = head.under(key)
        head.contentLength = length
        let writer = store.begin(head, asOf: moment)
        let new = State(writer: writer, copy: copyLimit.map { _ in Data() }, copyLimit: copyLimit ?? 0)
        // The end of a writer calls the store, so an earlier one is released outside of the lock.
        _ = state.withLock { state in
            defer { state = new }
            return state
        }
    }

    /// Whether a response is being recorded.
    var isRecording: Bool { state.withLock { $0.writer != nil } }

    /// Whether a copy of the body is being made: it was asked for, and the body is not too large so far.
    var isCopying: Bool { state.withLock { $0.copy != nil } }

    /// Adds a part of the body.
    ///
    /// - Returns: Whether more of the body is recorded: the store takes no body that is too large for it.
    @discardableResult
    func append(_ part: Data) -> Bool {
        let writer = state.withLock { state in
            state.count += part.count
            if state.count > state.copyLimit { state.copy = nil }
            state.copy?.append(part)
            return state.writer
        }
        guard let writer else { return false }
        writer.append(part)
        return writer.isOpen
    }

    /// Ends the recording: stores a complete response, and drops an incomplete one without a trace.
    ///
    /// - Parameters:
    ///   - isComplete: Whether the whole body arrived.
    ///   - ended: Called with the number of stored bytes, or the reason why the complete response was not stored, and with
    ///     the copy. It is not called for an incomplete response.
    func end(
        isComplete: Bool,
        ended: @escaping @Sendable (Result<Int, StoreError>, _ copy: Data?) -> Void = { _, _ in }
    ) {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        guard let writer = state.writer else { return }
        guard isComplete else { return writer.abandon() }
        writer.commit { [count = state.count, copy = state.copy] in ended($0.map { _ in count }, copy) }
    }
}
