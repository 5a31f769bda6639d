package import WaystationFoundation

/// The one task that reads a response: a state machine without side effects.
///
/// The task takes the head, and then the body part by part, or everything at once.
/// A reader that waits is a continuation. It is never resumed within the lock of the owner: the functions of this type
/// return what is to be resumed.
package struct SingleReader: Sendable {
    /// A reader that need not wait any longer.
    package struct Due: Sendable {
        private let work: @Sendable () -> Void

        fileprivate init(_ work: @escaping @Sendable () -> Void) { self.work = work }

        /// Resumes the reader.
        package func resume() { work() }
    }

    /// A reader that waits.
    private enum Waiting: Sendable {
        case head(CheckedContinuation<ResponseHead, any Error>)
        case part(CheckedContinuation<Data?, any Error>)
        case whole(CheckedContinuation<(ResponseHead, Data), any Error>)
    }

    /// The head, once it has arrived; a later one replaces it as long as no reader has got it.
    package private(set) var head: ResponseHead?
    /// The bytes that the reader has not taken yet.
    private var bytes = Data()
    private var end: Result<Void, any Error>?
    private var waiting: Waiting?

    package init() {}

    /// The number of bytes that wait for the reader.
    package var waitingBytes: Int { bytes.count }

    /// Whether the response has ended; bytes of it may still wait.
    package var hasEnded: Bool { end != nil }

    /// The error with which the response has ended.
    package var failure: (any Error)? {
        if case .failure(let error) = end { error } else { nil }
    }

    /// Whether a reader waits already, so that no other one may.
    package var isBusy: Bool { waiting != nil }

    // MARK: - The reader

    /// Waits for the head.
    package mutating func read(_ reader: CheckedContinuation<ResponseHead, any Error>) -> Due? {
        if let head { return Due { reader.resume(returning: head) } }
        if case .failure(let error) = end { return Due { reader.resume(throwing: error) } }
        waiting = .head(reader)
        return nil
    }

    /// Waits for the next part of the body, which is nil after the last one.
    package mutating func read(_ reader: CheckedContinuation<Data?, any Error>) -> Due? {
        if !bytes.isEmpty {
            let part = takeBytes()
            return Due { reader.resume(returning: part) }
        }
        if let end { return Due { reader.resume(with: end.map { nil }) } }
        waiting = .part(reader)
        return nil
    }

    /// Waits for the whole response.
    package mutating func read(_ reader: CheckedContinuation<(ResponseHead, Data), any Error>) -> Due? {
        guard let end else {
            waiting = .whole(reader)
            return nil
        }
        return whole(reader, end)
    }

    /// Takes all bytes that wait.
    package mutating func takeBytes() -> Data {
        defer { bytes = Data() }
        return bytes
    }

    /// Drops the bytes that wait.
    ///
    /// If the response had ended, and bytes of it are dropped, the next read fails: without an error, the reader would take
    /// the bytes that it has got for the whole body.
    ///
    /// - Parameter error: The error of a later read, if bytes were dropped.
    /// - Returns: The bytes, to be released outside of the lock.
    package mutating func drop(because error: any Error) -> Data {
        if end != nil, !bytes.isEmpty { end = .failure(error) }
        return takeBytes()
    }

    private mutating func whole(
        _ reader: CheckedContinuation<(ResponseHead, Data), any Error>,
        _ end: Result<Void, any Error>
    ) -> Due? {
        let result = end.flatMap { head.map { .success(($0, bytes)) } ?? .failure(URLError.missingHead(of: nil)) }
        bytes = Data()
        return Due { reader.resume(with: result) }
    }

    // MARK: - The response

    /// The head has arrived; if it is another one, because the request was sent again, the bytes of the one before are
    /// dropped.
    package mutating func receive(_ head: ResponseHead) -> Due? {
        guard end == nil else { return nil }
        self.head = head
        bytes = Data()
        guard case .head(let reader) = waiting else { return nil }
        waiting = nil
        return Due { reader.resume(returning: head) }
    }

    /// The head is delivered after bytes of its body have arrived, because it was kept back.
    package mutating func receiveKept(_ head: ResponseHead) -> Due? {
        let bytes = takeBytes()
        defer { self.bytes = bytes }
        return receive(head)
    }

    /// A part of the body has arrived.
    package mutating func receive(_ part: Data) -> Due? {
        guard end == nil, !part.isEmpty else { return nil }
        if case .part(let reader) = waiting {
            waiting = nil
            return Due { reader.resume(returning: part) }
        }
        if bytes.isEmpty { bytes = part } else { bytes.append(part) }
        return nil
    }

    /// The response has ended; only the first end counts.
    ///
    /// - Parameters:
    ///   - end: The end.
    ///   - noHead: The error of a response that ends without an error and without a head.
    /// - Returns: The reader to resume, if one waits.
    package mutating func receiveEnd(_ end: Result<Void, any Error>, noHead: @autoclosure () -> any Error) -> Due? {
        guard self.end == nil else { return nil }
        let end: Result<Void, any Error> = head == nil ? end.flatMap { .failure(noHead()) } : end
        self.end = end
        switch waiting.take() {
        case .head(let reader): return Due { if case .failure(let error) = end { reader.resume(throwing: error) } }
        case .part(let reader): return Due { reader.resume(with: end.map { nil }) }
        case .whole(let reader): return whole(reader, end)
        case nil: return nil
        }
    }
}
