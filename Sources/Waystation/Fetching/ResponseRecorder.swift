import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// Writes a response into the store as it arrives; the response is committed when it has arrived complete.
///
/// If a response with a strong validator breaks off, the bytes that have arrived are stored as a part (206). A long part is
/// stored as several shorter ones, so that other loads can use its bytes before it has ended.
final class ResponseRecorder: Sendable {
    private struct State {
        var writer: ResponseWriter?
        /// The head of the response, under its key.
        var head: StoredHead?
        var moment: StoreMoment?
        /// The number of bytes that were committed as parts.
        var committed = 0
        var count = 0
        /// A copy of the body so far; nil if none is wanted, or if the body is too long.
        var copy: Data?
        var copyLimit = 0
        /// Whether nothing is stored before the end.
        var isInOnePiece = false
    }

    /// The number of bytes after which a part is stored, and the next one begins.
    static let partLength = 8 << 20

    private let store: ResponseStore
    private let partLength: Int
    private let state = Mutex(State())

    init(_ store: ResponseStore) {
        self.store = store
        partLength = min(Self.partLength, store.largestBody)
    }

    deinit { end(isComplete: false) }

    /// Begins a recording with a head.
    ///
    /// - Parameters:
    ///   - head: The head that is stored with the body.
    ///   - key: The key under which the response is stored.
    ///   - length: The number of bytes of the body, if it is known.
    ///   - moment: When the request was sent. A response whose key was invalidated since then is not stored.
    ///   - isInOnePiece: Whether nothing is stored before the end, because only then it is known whether the body is right.
    ///   - copyLimit: The length up to which ``end(isComplete:ended:)`` returns a copy of the body; nil for no copy.
    func begin(
        _ head: StoredHead,
        under key: RequestKey,
        length: Int?,
        asOf moment: StoreMoment,
        inOnePiece isInOnePiece: Bool = false,
        copyingUpTo copyLimit: Int? = nil
    ) {
        var head = head.under(key.storing(head.headerFields))
        head.contentLength = length
        if key != head.key { store.stateRule(of: head, under: key, asOf: moment) }
        let new = State(
            writer: store.begin(head, asOf: moment),
            head: head,
            moment: moment,
            copy: copyLimit.map { _ in Data() },
            copyLimit: copyLimit ?? 0,
            isInOnePiece: isInOnePiece
        )
        // The end of a writer calls the store, so an earlier one is released outside of the lock.
        _ = state.withLock { state in
            defer { state = new }
            return state
        }
    }

    /// Whether a response is being recorded.
    var isRecording: Bool { state.withLock { $0.writer != nil } }

    /// Whether a part is being recorded that can be joined with others, and whose bytes are stored as they arrive.
    var isRecordingPart: Bool {
        state.withLock {
            $0.writer != nil && !$0.isInOnePiece && $0.head?.status == 206 && $0.head?.part(at: 0, length: 1) != nil
        }
    }

    /// Whether a copy of the body is being made: it was asked for, and the body is not too large so far.
    var isCopying: Bool { state.withLock { $0.copy != nil } }

    /// The effect of recording bytes of the body.
    enum Progress {
        /// Nothing more is recorded: the store takes no body that is too large for it.
        case none
        case recorded
        /// All bytes so far are stored, as parts that can be looked up.
        case stored
    }

    /// Adds a part of the body.
    ///
    /// - Returns: Whether more of the body is recorded.
    @discardableResult
    func append(_ part: Data) -> Progress {
        let writer = state.withLock { state in
            state.count += part.count
            if state.count > state.copyLimit { state.copy = nil }
            state.copy?.append(part)
            return state.writer
        }
        guard let writer else { return .none }
        writer.append(part)
        guard writer.isOpen else { return .none }
        return endPart() ? .stored : .recorded
    }

    /// Stores what has arrived of a part, if it is long, and begins the next one.
    private func endPart() -> Bool {
        let ended: (writer: ResponseWriter, offset: Int)? = state.withLock { state in
            guard !state.isInOnePiece, state.count - state.committed >= partLength, let writer = state.writer,
                var rest = state.head,
                rest.status == 206, rest.part(at: state.committed, length: 1) != nil
            else { return nil }
            let offset = state.committed
            rest.contentLength = nil
            state.writer = store.begin(rest, asOf: state.moment, offset: state.count)
            state.committed = state.count
            return (writer, offset)
        }
        guard let ended else { return false }
        ended.writer.commitPart(at: ended.offset)
        return true
    }

    /// Ends the recording: stores a complete response, and the part that has arrived of an incomplete one.
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
        let finish = { @Sendable [count = state.count, copy = state.copy] (result: Result<Int64, StoreError>) in
            if isComplete { ended(result.map { _ in count }, copy) }
        }
        guard let writer = state.writer else {
            // All that was stored are parts.
            if state.committed > 0 { finish(.success(0)) }
            return
        }
        if isComplete, state.committed == 0 { return writer.commit(completion: finish) }
        guard state.count > state.committed else {
            writer.abandon()
            return finish(.success(0))
        }
        writer.commitPart(at: state.committed, completion: finish)
    }

    /// Ends the recording, and stores nothing of what has arrived.
    func discard() {
        let state = state.withLock { state in
            defer { state = State() }
            return state
        }
        state.writer?.abandon()
    }
}
