import Synchronization
import WaystationFoundation
import WaystationStorage

/// A task of a `URLSession` as the client of a load.
///
/// The task's delegate is asked what Foundation would have asked it, and gets the bytes as it takes them. A completion
/// handler gets all bytes in one piece. The bytes of a download are written to its file as they arrive.
final class TaskClient: JourneyClient {
    private struct State {
        /// Bytes that wait for a completion handler, which gets all of them in one piece.
        var gathered = Data()
        /// The writer of a download's file, once bytes have arrived.
        var writer: DownloadWriter?
        /// The error with which a download's file could not be written.
        var writeError: URLError?
        var response: HTTPURLResponse?
        /// The delegate that gets the task's bytes and progress; the outer nil means that it was not looked up yet.
        var listener: Listener??
        /// Whether no delegate gets the bytes; the progress of the request's body may be reported all the same.
        var areBytesUnheard = false
        /// The number of bytes that were given to the delegate's queue and that the queue has not reached yet, or that
        /// are being written to a download's file.
        var untaken = 0
        /// The number of bytes that were delivered since the last mark was put on the delegate's queue, and were not
        /// taken yet.
        var unmarked = 0
    }

    /// The number of bytes that may wait on the delegate's queue; the rest waits in the journey.
    private static let untakenLimit = 1 << 20
    /// The number of bytes after which a mark is put on the delegate's queue, to learn that the queue has reached them.
    private static let markInterval = 256 << 10

    private let client: LoadClient
    private let session: LoadingSession?
    private let queue: LoadingQueue
    /// Whether the bytes are written to a file here, which the session's delegate or the completion handler gets.
    private let isDownload: Bool
    /// The file system of a download's file.
    private let files: any FileSystem
    private let handingBack: (@Sendable () -> Void)?
    private let state = Mutex(State())

    private var task: URLSessionTask { client.task }

    /// Makes a client.
    ///
    /// Call it on the work queue.
    ///
    /// - Parameters:
    ///   - client: The task and the client of its protocol.
    ///   - files: The file system of a download's file.
    ///   - handingBack: Hands the task back to Foundation's own loader; nil when that is no longer possible.
    init(_ client: LoadClient, _ files: any FileSystem, handingBack: (@Sendable () -> Void)? = nil) {
        self.client = client
        self.files = files
        self.handingBack = handingBack
        session = LoadingSession.current(for: client.task)
        queue = LoadingQueue(of: client.task, in: session)
        isDownload = client.task is URLSessionDownloadTask && !DownloadedFile.current.isMadeBySession
    }

    var decidesAboutRedirects: Bool { task.delegate != nil }

    var isReachable: Bool { queue.isKnown }

    func perform(_ work: @escaping @Sendable () -> Void) { queue.hop(work) }

    // MARK: - The response

    var needsResponse: Bool { true }

    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (_ continues: Bool) -> Void) -> Bool {
        guard let head = head.response else { return true }
        let settled = UnchallengedResponse.settling(head)
        state.withLock { state in
            state.response = settled
            state.gathered = Data()
            state.writer = nil
        }
        let outcome = ResponseAnnouncement.make(
            settled,
            for: task,
            in: session?.session,
            listener: { listener },
            receive: client.receive
        ) { disposition in decide(disposition != .cancel) }
        if case .asked = outcome { return false }
        // If the session has no delegate, a task whose response no delegate got has no delegate for bytes either: no
        // need to look.
        if case .unheard = outcome, session?.session?.delegate == nil { state.withLock { $0.areBytesUnheard = true } }
        return true
    }

    func take(_ part: Data, of journey: Journey) {
        guard !isDownload else { return write(part, journey) }
        let listener = byteListener
        if let listener, listener.takesPieces {
            client.load(part)
            return mark(part.count, on: listener.session.delegateQueue, journey)
        }
        state.withLock { $0.gathered.append(part) }
        // A caller that passed a delegate with its call gets the whole body itself; its delegate gets the bytes too.
        guard let listener, let observer = listener.delegate as? any URLSessionDataDelegate,
            let dataTask = task as? URLSessionDataTask
        else { return }
        let session = listener.session
        session.delegateQueue.addOperation { observer.urlSession(session, dataTask: dataTask, didReceive: part) }
    }

    /// Counts bytes that were given to the delegate until the delegate's queue has reached them.
    ///
    /// On that queue each part takes memory until its call is made. A delegate that is slower than the network gets
    /// only as much as it takes; the rest waits in the journey, which slows the network down.
    private func mark(_ count: Int, on delegateQueue: OperationQueue, _ journey: Journey) {
        let marked = state.withLock { state in
            state.untaken += count
            state.unmarked += count
            guard state.unmarked >= Self.markInterval else { return 0 }
            defer { state.unmarked = 0 }
            return state.unmarked
        }
        guard marked > 0, queue.isKnown else { return }
        delegateQueue.addOperation {
            let wasFull = self.state.withLock { state in
                defer { state.untaken -= marked }
                return state.untaken >= Self.untakenLimit
            }
            if wasFull { journey.continueDelivery() }
        }
    }

    /// Writes a part to the file of a download.
    ///
    /// Nothing else is delivered meanwhile, so the end is reported when the file is complete.
    private func write(_ part: Data, _ journey: Journey) {
        // The end waits while bytes are being written.
        guard !part.isEmpty else { return }
        client.record(part)
        let (writer, response) = state.withLock { state in
            state.untaken += part.count
            let writer = state.writer ?? DownloadWriter(files)
            state.writer = writer
            return (writer, state.response)
        }
        let expected = response?.expectedContentLength ?? NSURLSessionTransferSizeUnknown
        // Foundation changes the progress on the work queue only.
        task.progress.totalUnitCount = expected
        task.progress.completedUnitCount = writer.length
        let listener = listener
        writer.append(part) { result in
            switch result {
            case .success(let total):
                if !journey.hasEnded { self.report(Int64(part.count), total, expected, to: listener) }
            case .failure(let error):
                let failure = self.writeError(error)
                self.state.withLock { $0.writeError = failure }
                journey.abort(failure)
            }
            self.state.withLock { $0.untaken -= part.count }
            journey.continueDelivery()
        }
    }

    private func writeError(_ error: any Error) -> URLError {
        let url = task.originalRequest?.url
        let message = "the download of \(url?.shown ?? "the file") cannot be written: \(error)"
        return URLError(.cannotWriteToFile, failing: url, message, underlying: error)
    }

    /// Reports the progress of a download to its delegate.
    private func report(_ count: Int64, _ total: Int64, _ expected: Int64, to listener: Listener?) {
        guard let listener, let delegate = listener.delegate as? any URLSessionDownloadDelegate,
            let task = task as? URLSessionDownloadTask
        else { return }
        listener.session.delegateQueue.addOperation {
            delegate.urlSession(
                listener.session,
                downloadTask: task,
                didWriteData: count,
                totalBytesWritten: total,
                totalBytesExpectedToWrite: expected
            )
        }
    }

    // Without a way back to the work queue, the journey cannot wait for the delegate.
    var isReady: Bool {
        let untaken = state.withLock(\.untaken)
        return isDownload ? untaken == 0 : !queue.isKnown || untaken < Self.untakenLimit
    }

    /// Whether a delegate or a file gets each piece as it arrives.
    ///
    /// A completion handler gets only the last piece. So for a completion handler, and when the listener is not known,
    /// all bytes are gathered first.
    private var isStreamed: Bool { isDownload || byteListener?.takesPieces ?? false }

    // Each piece is passed between queues several times: with pieces of 128 KiB a body takes almost twice as long.
    var pieceLength: Int? { isStreamed ? 512 << 10 : nil }

    /// Runs the work on the delegate's queue, if a delegate gets the bytes.
    func whenPassedOn(_ work: @escaping @Sendable () -> Void) {
        // The bytes of a download have been written when the journey gets here.
        guard isStreamed, !isDownload, let session = session?.session else { return work() }
        session.delegateQueue.addOperation { work() }
    }

    func end(_ error: (any Error)?) {
        let ended = state.withLock { state in
            defer {
                state.gathered = Data()
                state.writer = nil
            }
            return state
        }
        if let error = error ?? ended.writeError { return client.fail(error) }
        if isDownload {
            do throws(URLError) { try handOver(ended.writer ?? DownloadWriter(files)) } catch {
                return client.fail(error)
            }
        } else if !ended.gathered.isEmpty {
            client.load(ended.gathered)
        }
        client.finish(ended.response)
    }

    /// Gives the session the complete file of a download.
    private func handOver(_ writer: DownloadWriter) throws(URLError) {
        let file: URL
        do { file = try writer.keep() } catch { throw writeError(error) }
        task.progress.totalUnitCount = writer.length
        task.progress.completedUnitCount = writer.length
        guard DownloadedFile.current.handOver(file, by: client.owner) else {
            throw writeError(
                WaystationError(.downloadUnavailable, "this version of Foundation has no place for its file")
            )
        }
    }

    /// Reports the progress to the task's delegate, or to the delegate of the one call that made the task.
    func didSend(_ count: Int64, total: Int64, expected: Int64) {
        guard let listener else { return }
        let task = task
        listener.session.delegateQueue.addOperation {
            listener.delegate.urlSession(
                listener.session,
                task: task,
                didSendBodyData: count,
                totalBytesSent: total,
                totalBytesExpectedToSend: expected
            )
        }
    }

    // MARK: - Questions

    func follow(
        _ response: HTTPURLResponse,
        to next: URLRequest,
        _ answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        guard let delegate = task.delegate, let session = FoundationInternals.session(of: task) else {
            return answer(next)
        }
        let task = task
        session.delegateQueue.addOperation {
            delegate.urlSession(session, task: task, willPerformHTTPRedirection: response, newRequest: next) {
                answer($0)
            }
        }
    }

    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        DelegateChallenge.ask(task, challenge, completion)
    }

    func handBack() -> Bool {
        guard let handingBack else { return false }
        handingBack()
        return true
    }

    // MARK: - Listeners

    /// The delegate that gets the bytes.
    private var byteListener: Listener? {
        state.withLock(\.areBytesUnheard) ? nil : listener
    }

    private var listener: Listener? {
        if let known = state.withLock({ $0.listener }) { return known }
        let found = session?.listener(of: task)
        state.withLock { $0.listener = .some(found) }
        return found
    }
}

/// Asks a task's delegate for credentials, as Foundation does.
enum DelegateChallenge {
    /// Asks the delegate, and reports how the request continues.
    ///
    /// - Parameters:
    ///   - task: The task whose delegate is asked; without a task or a delegate, the proposed credential is the answer.
    ///   - challenge: The challenge for the delegate.
    ///   - completion: Called once, on any thread.
    static func ask(
        _ task: URLSessionTask?,
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        guard let task, let delegate = task.delegate, let session = FoundationInternals.session(of: task) else {
            return completion(ChallengeAnswer(.performDefaultHandling, nil, for: challenge))
        }
        session.delegateQueue.addOperation {
            delegate.urlSession(session, task: task, didReceive: challenge) { disposition, credential in
                completion(ChallengeAnswer(disposition, credential, for: challenge))
            }
        }
    }
}
