import Dispatch
import Synchronization
import WaystationFoundation

/// A protocol's client and its task.
///
/// Its members must be called on the session's work queue only, which a debug build checks.
///
/// `@unchecked Sendable`: `URLProtocol` is explicitly not sendable and a subclass cannot change that. The box crosses
/// threads only to reach the work queue; every call of its members is made there.
struct LoadClient: @unchecked Sendable {
    let task: URLSessionTask
    let owner: URLProtocol
    /// The client itself, because the protocol's own `client` is nil once the load is over.
    let client: any URLProtocolClient
    /// Collects what the app gets; nil unless a recorder is set.
    private(set) var recording: ExchangeRecording?

    init?(_ owner: URLProtocol) {
        guard let task = owner.task, let client = owner.client else { return nil }
        self.owner = owner
        self.task = task
        self.client = client
    }

    /// The same client, which also passes everything it delivers to the recording if a recorder is set.
    func recorded(in context: LoadContext) -> LoadClient {
        guard let recording = context.recording else { return self }
        var client = self
        client.recording = recording
        return client
    }

    /// Sets the task's response, and reports it to the delegate if there is one.
    func receive(_ response: URLResponse) {
        checkQueue()
        recording?.didReceive(response)
        client.urlProtocol(owner, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    /// Delivers bytes.
    ///
    /// A delegate gets the bytes of every call, a completion handler only those of the last call.
    func load(_ data: Data) {
        checkQueue()
        recording?.didLoad(data)
        client.urlProtocol(owner, didLoad: data)
    }

    /// Records bytes that go into the file of a download.
    func record(_ data: Data) {
        checkQueue()
        recording?.didLoad(data)
    }

    /// Ends the task successfully.
    ///
    /// `response` is the response that the task got last.
    func finish(_ response: URLResponse?) {
        checkQueue()
        // The recorder is called before the app: when the app gets its end, the load has been recorded.
        recording?.didEnd()
        EndedTask.current.keepFromResuming(task, status: (response as? HTTPURLResponse)?.statusCode)
        (response as? UnchallengedResponse).concluding {
            client.urlProtocolDidFinishLoading(owner)
        }
    }

    /// Ends the task with an error.
    func fail(_ error: any Error) {
        checkQueue()
        recording?.didEnd(error)
        EndedTask.current.keepFromResuming(task)
        client.urlProtocol(owner, didFailWithError: error)
    }

    private func checkQueue() {
        #if DEBUG
        // The task's own queue leads to the session's.
        if let queue = FoundationInternals.session(of: task).flatMap(FoundationInternals.workQueue) {
            dispatchPrecondition(condition: .onQueue(queue))
        }
        #endif
    }
}

/// The reason for a session's call of `stopLoading`, which does not state it and comes some time after the event.
enum StopReason {
    /// The task is suspended and may be resumed.
    case suspension
    /// The task was cancelled; Foundation itself ends it afterwards.
    case cancellation
    /// The reason for the call is gone: the task was resumed already, or has ended.
    ///
    /// Foundation's own loader treats such a call as a cancel, and crashes because it finds no error.
    case overtaken

    init(_ task: URLSessionTask) {
        switch task.state {
        case .suspended: self = .suspension
        case .canceling: self = .cancellation
        case .running, .completed: self = .overtaken
        @unknown default: self = .overtaken
        }
    }
}

/// Keeps a task whose load has ended from being resumed.
///
/// A task is completed only when its recipient has got the end, on another queue than its protocol's. If the app resumes
/// it just before that, Foundation finds no protocol any more and takes that for an unsupported URL. It reports this
/// error for a task that the session may have forgotten by then, which ends the process.
///
/// A task starts only when its count of suspensions reaches zero, so a load that ends sets a count from which no app
/// gets there. The task is completed as before; from such a resume until then, its state is `suspended`.
struct EndedTask: Sendable {
    /// The count of this toolchain.
    static let current = EndedTask()

    /// More than an app can resume, and less than the number of suspensions that Foundation allows.
    static let suspensions = 1 << 40

    let cure: FoundationCure
    /// The offset of the count in a task; nil if the cure stays out, and then nothing is read or written.
    private let offset: Int?

    /// Finds the count of this name, which must be a stored `Int` of `URLSessionTask`.
    init(property: String = "suspendCount", isNeeded: Bool = true) {
        let count = StoredProperty(property, as: Int.self, in: URLSessionTask.self)
        cure = FoundationCure(
            "L38",
            "a task whose load has just ended may be resumed",
            without: "resuming a task in the moment in which its load ends may end the process",
            isNeeded: isNeeded,
            count
        )
        offset = cure.isApplied ? count.offset : nil
    }

    /// The number of suspensions of a task; nil if the cure stays out.
    func suspensions(of task: URLSessionTask) -> Int? {
        offset.map { Self.storage(of: task).load(fromByteOffset: $0, as: Int.self) }
    }

    /// Makes resuming a task useless.
    ///
    /// Call it on the task's work queue, where Foundation reads and changes the count.
    ///
    /// - Parameters:
    ///   - task: The task, whose client is about to get the end.
    ///   - status: The status of the task's response; nil if the task has no response. With a 401 the count is not
    ///     changed, because Foundation may answer the challenge of the 401 by resuming the task.
    func keepFromResuming(_ task: URLSessionTask, status: Int? = nil) {
        guard let offset, status != 401 else { return }
        Self.storage(of: task).storeBytes(of: Self.suspensions, toByteOffset: offset, as: Int.self)
    }

    private static func storage(of task: URLSessionTask) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(task).toOpaque()
    }
}

/// A 401 that is the final answer.
///
/// When a task ends with a 401 whose challenge Foundation understands, Foundation asks for credentials again, and on
/// this toolchain waits for ever if it gets none. It finds the challenge by the response's URL. While a task is being
/// ended, the URL of this response is nil for the thread that ends the task.
final class UnchallengedResponse: HTTPURLResponse, @unchecked Sendable {
    // `@unchecked` because the superclass is; the only state added here is atomic.
    fileprivate let concludingThread = Atomic<UInt>(0)

    override var url: URL? { concludingThread.load(ordering: .relaxed) == currentThread ? nil : super.url }

    /// The same response, or a copy for which Foundation raises no challenge.
    static func settling(_ response: HTTPURLResponse) -> HTTPURLResponse {
        guard response.statusCode == 401, !(response is UnchallengedResponse), let url = response.url else {
            return response
        }
        let fields = response.allHeaderFields as? [String: String]
        return UnchallengedResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: fields)
            ?? response
    }
}

/// The calling thread; never zero.
private var currentThread: UInt { UInt(pthread_self()) }

extension UnchallengedResponse? {
    /// Ends a task by `body`, while the challenge is hidden from Foundation.
    func concluding(_ body: () -> Void) {
        self?.concludingThread.store(currentThread, ordering: .relaxed)
        body()
        self?.concludingThread.store(0, ordering: .relaxed)
    }
}

/// Gives a task its response, and asks its delegate what to do with it.
///
/// Foundation's client reports the response to the delegate and ignores the delegate's answer. To make the answer
/// count, Foundation's own call is removed from the delegate's queue and made here instead. When that call cannot be
/// identified with certainty, it stays, and the answer is ignored as on plain sessions.
enum ResponseAnnouncement {
    /// The recipient of a response.
    enum Outcome {
        /// No delegate got the response: continue.
        case unheard
        /// Foundation's own call was left in place, and its answer is ignored: continue.
        case told
        /// The delegate was asked, and answers.
        case asked
    }

    /// Sets the response of the task, and reports it to the task's delegate.
    ///
    /// Call it on the work queue.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - task: The task that gets the response.
    ///   - session: The task's session.
    ///   - listener: Finds the delegate that Foundation reports the response to; called only when Foundation calls one.
    ///   - receive: Passes the response to the client.
    ///   - answer: Called once with the listener's decision if the listener was asked, on the delegate's queue.
    /// - Returns: The recipient of the response.
    static func make(
        _ response: HTTPURLResponse,
        for task: URLSessionTask,
        in session: URLSession?,
        listener: () -> Listener?,
        receive: (URLResponse) -> Void,
        answer: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) -> Outcome {
        guard let dataTask = task as? URLSessionDataTask, let session else {
            receive(response)
            return .told
        }
        var delegate: (any URLSessionDataDelegate)?
        let queued = withholdingCall(in: session, { receive(response) }) {
            delegate = listener()?.delegate as? any URLSessionDataDelegate
            return delegate != nil
        }
        guard queued > 0 else { return .unheard }
        guard let delegate else { return .told }
        session.delegateQueue.addOperation {
            delegate.urlSession(session, dataTask: dataTask, didReceive: response) { answer($0) }
        }
        return .asked
    }

    /// Sets the response of the task without a call of its delegate, which has already got it.
    ///
    /// Call it on the work queue.
    ///
    /// - Parameters:
    ///   - response: The response.
    ///   - task: The task that gets the response.
    ///   - session: The task's session.
    ///   - listener: Finds the delegate to which Foundation reports the response. Without a delegate, a call that
    ///     is queued meanwhile is the app's own, and is kept.
    ///   - receive: Passes the response to the client.
    static func replace(
        with response: HTTPURLResponse,
        for task: URLSessionTask,
        in session: URLSession?,
        listener: () -> Listener?,
        receive: (URLResponse) -> Void
    ) {
        guard let session else { return receive(response) }
        _ = withholdingCall(in: session, { receive(response) }) {
            switch task {
            case is URLSessionDataTask: listener()?.delegate is any URLSessionDataDelegate
            case is URLSessionWebSocketTask: listener()?.delegate is any URLSessionWebSocketDelegate
            default: false
            }
        }
    }

    /// Runs `body`, and cancels the one call that it queued for the delegate if `isWanted` returns true.
    ///
    /// If `body` queued no call or more than one, nothing is cancelled.
    ///
    /// - Returns: The number of calls that were queued meanwhile.
    private static func withholdingCall(in session: URLSession, _ body: () -> Void, if isWanted: () -> Bool) -> Int {
        let queue = session.delegateQueue
        let wasSuspended = queue.isSuspended
        queue.isSuspended = true
        defer { queue.isSuspended = wasSuspended }
        let earlier = queue.operations
        // The earlier operations are kept alive until then: otherwise a new operation could get the address of an ended
        // one and be mistaken for it.
        return withExtendedLifetime(earlier) {
            let before = Set(earlier.map(ObjectIdentifier.init))
            body()
            let queued = queue.operations.filter { !before.contains(ObjectIdentifier($0)) }
            if queued.count == 1, let call = queued.first, isWanted() { call.cancel() }
            return queued.count
        }
    }
}
