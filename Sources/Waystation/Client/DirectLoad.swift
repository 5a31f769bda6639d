import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// One load of a ``DirectClient``: the client of a journey, and the task that reads its response.
///
/// The works of the journey run one at a time, on the thread that brings them: no queue is between the network and the
/// reader. No continuation is resumed, and nothing of a journey or a transport is called or released, while the lock is
/// held.
final class DirectLoad: JourneyClient {
    /// How the reader takes the body.
    enum Reading {
        /// All of it at once.
        case whole
        /// Part by part, as it arrives.
        case parts
    }

    private struct State {
        var works: Queue<@Sendable () -> Void> = []
        /// Whether a thread is running the works.
        var isPerforming = false
        var journey: Journey?
        var reader = SingleReader()
        /// A refusal that the reader does not get yet, because the request may be sent again with credentials.
        var refusal: ResponseHead?
        /// Work that waits until the reader has taken all bytes.
        var passedOn: [@Sendable () -> Void] = []
        /// Work to run at the end.
        var atEnd: [@Sendable () -> Void] = []
        var received = 0
        var timeToHead: Duration?
        var duration: Duration?
        var source: LoadEvent.Source?

        /// Gives the reader the refusal that was kept back; the bytes of its body wait for the reader already.
        mutating func passRefusalOn() -> SingleReader.Due? {
            guard let head = refusal.take() else { return nil }
            return reader.receiveKept(head)
        }
    }

    /// The number of bytes that may wait for a reader of parts; the rest waits in the journey.
    private static let limit = 128 << 10

    private let url: URL?
    private let reading: Reading
    private let followsRedirects: Bool
    private let began: ContinuousClock.Instant
    private let state = Mutex(State())

    /// Makes a load, which does nothing yet.
    ///
    /// - Parameters:
    ///   - url: The URL that errors name.
    ///   - reading: How the reader takes the body.
    ///   - followsRedirects: Whether redirects are followed; otherwise they are answers.
    ///   - began: When the load began.
    init(of url: URL?, _ reading: Reading, followsRedirects: Bool, since began: ContinuousClock.Instant) {
        self.url = url
        self.reading = reading
        self.followsRedirects = followsRedirects
        self.began = began
    }

    // MARK: - The reader

    /// Begins the load.
    ///
    /// - Parameters:
    ///   - journey: Begins the journey.
    ///   - stopped: Called instead if the load was stopped before.
    func begin(_ journey: @escaping @Sendable () -> Journey, orElse stopped: @escaping @Sendable () -> Void) {
        perform {
            // A deadline may have passed before, or the body of the request may have failed.
            guard !self.state.withLock(\.reader.hasEnded) else { return stopped() }
            let journey = journey()
            // A cancel or the end comes later, in its turn.
            self.state.withLock { $0.journey = journey }
        }
    }

    /// Waits for the head of the response.
    nonisolated(nonsending) func head() async throws -> ResponseHead {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                state.withLock { $0.reader.read(reader) }?.resume()
            }
        } onCancel: {
            cancel()
        }
    }

    /// Waits for the whole response.
    nonisolated(nonsending) func whole() async throws -> (ResponseHead, Data) {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { reader in
                state.withLock { $0.reader.read(reader) }?.resume()
            }
        } onCancel: {
            cancel()
        }
    }

    /// Waits for the next part of the body; nil after the last one.
    nonisolated(nonsending) func next() async throws -> Data? {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (reader: CheckedContinuation<Data?, any Error>) in
                let (isBusy, due, passedOn, journey) = state.withLock {
                    state -> (Bool, SingleReader.Due?, [@Sendable () -> Void], Journey?) in
                    guard !state.reader.isBusy else { return (true, nil, [], nil) }
                    let wasFull = state.reader.waitingBytes >= Self.limit
                    let due = state.reader.read(reader)
                    defer { state.passedOn = [] }
                    return (false, due, state.passedOn, wasFull ? state.journey : nil)
                }
                guard !isBusy else { return reader.resume(throwing: secondReader) }
                due?.resume()
                for work in passedOn { work() }
                journey?.continueDelivery()
            }
        } onCancel: {
            cancel()
        }
    }

    private var secondReader: URLError {
        let message = "two tasks read the body of \(url?.shown ?? "a response") at a time: read it in one task"
        return URLError(.resourceUnavailable, failing: url, message)
    }

    /// Stops the load, and drops the bytes that wait: reading them fails.
    func cancel() {
        guard !state.withLock({ $0.reader.hasEnded && $0.reader.waitingBytes == 0 }) else { return }
        let error = URLError.cancelledLoad(of: url)
        stop(error)
        let dropped = state.withLock { $0.reader.drop(because: error) }
        withExtendedLifetime(dropped) {}
    }

    /// Ends the load with an error, and stops the work behind it; does nothing after the end.
    func stop(_ error: any Error) {
        guard finish(.failure(error)) else { return }
        let (passedOn, dropped) = state.withLock { state in
            defer { state.passedOn = [] }
            return (state.passedOn, state.reader.takeBytes())
        }
        withExtendedLifetime(dropped) {}
        for work in passedOn { work() }
        perform { self.state.withLock { $0.journey.take() }?.cancel() }
    }

    /// The error with which the load has ended.
    var failure: (any Error)? { state.withLock(\.reader.failure) }

    /// Runs work when the load has ended; at once if it has.
    func atEnd(_ work: @escaping @Sendable () -> Void) {
        let hasEnded = state.withLock { state in
            if !state.reader.hasEnded { state.atEnd.append(work) }
            return state.reader.hasEnded
        }
        if hasEnded { work() }
    }

    /// The times and the bytes of the load so far.
    var metrics: DirectClient.Metrics {
        state.withLock { state in
            DirectClient.Metrics(
                source: state.source ?? .network,
                timeToHead: state.timeToHead ?? .zero,
                duration: state.duration,
                receivedBytes: state.received
            )
        }
    }

    /// Ends the reader's part.
    ///
    /// - Returns: False if it had ended before.
    @discardableResult
    private func finish(_ end: Result<Void, any Error>) -> Bool {
        noteSource()
        let (due, atEnd): (SingleReader.Due?, [@Sendable () -> Void]?) = state.withLock { state in
            guard !state.reader.hasEnded else { return (nil, nil) }
            state.duration = began.duration(to: .now)
            defer { state.atEnd = [] }
            return (state.reader.receiveEnd(end, noHead: URLError.missingHead(of: url)), state.atEnd)
        }
        due?.resume()
        guard let atEnd else { return false }
        for work in atEnd { work() }
        return true
    }

    private func noteSource() {
        guard let source = state.withLock(\.journey)?.source else { return }
        state.withLock { $0.source = source }
    }

    // MARK: - JourneyClient

    var decidesAboutRedirects: Bool { !followsRedirects }
    var isReachable: Bool { true }
    var needsResponse: Bool { false }
    // Larger pieces are not faster here, and each of many loads has one in memory.
    var pieceLength: Int? { reading == .parts ? 128 << 10 : nil }
    var isReady: Bool { reading == .whole || state.withLock { $0.reader.waitingBytes < Self.limit } }

    func perform(_ work: @escaping @Sendable () -> Void) {
        let isFirst = state.withLock { state in
            state.works.append(work)
            defer { state.isPerforming = true }
            return !state.isPerforming
        }
        guard isFirst else { return }
        while let work = nextWork() { work() }
    }

    private func nextWork() -> (@Sendable () -> Void)? {
        state.withLock { state in
            let work = state.works.popFirst()
            state.isPerforming = work != nil
            return work
        }
    }

    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (_ continues: Bool) -> Void) -> Bool {
        noteSource()
        // A reader of parts must not get a refusal that another response follows.
        let isKept = reading == .parts && URLProtectionSpace.asked(by: head) != nil
        let (due, dropped) = state.withLock { state -> (SingleReader.Due?, Data) in
            state.timeToHead = began.duration(to: .now)
            state.received = 0
            state.refusal = isKept ? head : nil
            let dropped = state.reader.takeBytes()
            return (isKept ? nil : state.reader.receive(head), dropped)
        }
        withExtendedLifetime(dropped) {}
        due?.resume()
        return true
    }

    func take(_ part: Data, of journey: Journey) {
        let due = state.withLock { state -> SingleReader.Due? in
            state.received += part.count
            let due = state.reader.receive(part)
            // So much is the body of a page, and not only the form of a refusal.
            return state.reader.waitingBytes >= Self.limit ? state.passRefusalOn() : due
        }
        due?.resume()
    }

    func whenPassedOn(_ work: @escaping @Sendable () -> Void) {
        let waits = state.withLock { state in
            guard reading == .parts, !state.reader.hasEnded, state.reader.waitingBytes > 0,
                // A reader that waits for the head takes no bytes.
                state.refusal == nil
            else { return false }
            state.passedOn.append(work)
            return true
        }
        if !waits { work() }
    }

    func end(_ error: (any Error)?) {
        state.withLock { $0.passRefusalOn() }?.resume()
        finish(error.map { .failure($0) } ?? .success(()))
        state.withLock { $0.journey = nil }
    }

    func didSend(_ count: Int64, total: Int64, expected: Int64) {}

    func follow(
        _ response: HTTPURLResponse,
        to next: URLRequest,
        _ answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        answer(followsRedirects ? next : nil)
    }

    /// Answers with the credentials that are stored for the server, as a session without a delegate does.
    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        // A reader that has got the refusal cannot get another response.
        guard state.withLock({ reading == .whole || $0.refusal != nil }) else { return completion(.complete) }
        completion(ChallengeAnswer(.performDefaultHandling, nil, for: challenge))
    }

    func handBack() -> Bool { false }
}

extension URLError {
    /// The error of a load whose task was cancelled.
    static func cancelledLoad(of url: URL?) -> URLError {
        URLError(.cancelled, failing: url, "the task that loads \(url?.shown ?? "the URL") was cancelled")
    }
}
