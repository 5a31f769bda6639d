package import Dispatch
import Synchronization
public import WaystationFoundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The network through Foundation's own loader: one long-lived session.
///
/// The session has the configuration that the transport is given (time-outs, proxy, additional header fields, protocol
/// classes, connection limits), without its cookies. A session for each request would leak and crash in its teardown on
/// Linux, so each transport has one session.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let exchanges: ExchangeDelegate
    package let pacer: TransferPacer

    /// Makes a transport whose session has the settings of `configuration`.
    ///
    /// The interceptor handles credentials and cookies, so the session has no storage for them. A request is sent with
    /// the field `Cookie` that it has.
    public init(configuration: URLSessionConfiguration) {
        let own = (configuration.copy() as? URLSessionConfiguration) ?? .default
        own.urlCache = nil
        own.urlCredentialStorage = nil
        own.httpCookieStorage = nil
        own.httpShouldSetCookies = false
        own.httpCookieAcceptPolicy = .never
        exchanges = ExchangeDelegate()
        let queue = DelegateQueue()
        session = URLSession(configuration: own, delegate: exchanges, delegateQueue: queue)
        pacer = queue.pacer
        pacer.begin(session)
    }

    /// Reads from the network only as fast as loads take the bytes; `backlog` returns the number of those that wait.
    package func keepPace(with backlog: @escaping @Sendable () -> Int) { pacer.watch(backlog) }

    deinit {
        session.finishTasksAndInvalidate()
    }

    /// Starts the exchange as a data task of the transport's session.
    public func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        let task = session.dataTask(with: request.settingTimeoutInterval)
        exchanges.add(receiver, for: task)
        task.resume()
        return SessionExchange(task: task)
    }
}

private struct SessionExchange: TransportExchange {
    let task: URLSessionDataTask

    func cancel() {
        // On this toolchain `cancel` waits for the loading queue; called on that queue, it would wait for itself.
        DispatchQueue.global().async { task.cancel() }
    }
}

/// Passes each call of the session's delegate to the receiver of its task.
private final class ExchangeDelegate: NSObject, URLSessionDataDelegate {
    private struct Entry {
        let receiver: any TransportReceiver
        let mayTunnel: Bool
        var heldHead: HTTPURLResponse?
        var hasHead = false
    }

    private let entries = Mutex<[Int: Entry]>([:])
    /// Whether the environment names a proxy for https URLs.
    private let hasTunnels = ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"].contains {
        ProcessInfo.processInfo.environment[$0]?.isEmpty == false
    }

    func add(_ receiver: any TransportReceiver, for task: URLSessionTask) {
        let mayTunnel = hasTunnels && task.originalRequest?.url?.isHTTPS == true
        entries.withLock { $0[task.taskIdentifier] = Entry(receiver: receiver, mayTunnel: mayTunnel) }
    }

    /// Delivers a head, unless it may be the answer to CONNECT, which Foundation reports like the response's own head.
    ///
    /// Such a head is held until it is replaced by the next one, or the body or the end shows that it is the last one.
    private func take(_ head: HTTPURLResponse, of task: URLSessionTask) {
        let isHeld = entries.withLock { entries in
            guard entries[task.taskIdentifier]?.mayTunnel == true else { return false }
            entries[task.taskIdentifier]?.heldHead = head
            return true
        }
        if !isHeld { begin(task, head) }
    }

    /// Delivers the head that was held.
    ///
    /// Foundation calls no delegate method for a redirect without a valid target: then the last head that it reported is
    /// that of the proxy, and the response's own is only in the task.
    private func deliverHeldHead(of task: URLSessionTask) {
        let held = entries.withLock { entries in
            defer { entries[task.taskIdentifier]?.heldHead = nil }
            return entries[task.taskIdentifier]?.heldHead
        }
        guard let held else { return }
        let last = task.response as? HTTPURLResponse
        begin(task, last.flatMap { (100..<200).contains($0.statusCode) ? nil : $0 } ?? held)
    }

    private func receiver(for task: URLSessionTask) -> (any TransportReceiver)? {
        entries.withLock { $0[task.taskIdentifier]?.receiver }
    }

    private func begin(_ task: URLSessionTask, _ head: HTTPURLResponse) {
        let receiver = entries.withLock { entries in
            entries[task.taskIdentifier]?.hasHead = true
            return entries[task.taskIdentifier]?.receiver
        }
        report(head, to: receiver)
    }

    private func report(_ response: HTTPURLResponse, to receiver: (any TransportReceiver)?) {
        var head = ResponseHead(response)
        head.hidesCuts = true
        receiver?.transportDidReceive(head)
    }

    private func end(_ task: URLSessionTask, _ error: (any Error)?) {
        if hasTunnels, error == nil { deliverHeldHead(of: task) }
        guard let entry = entries.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        // For a redirect without a valid target Foundation calls no delegate method; the response is only in the task.
        if error == nil, !entry.hasHead, let head = task.response as? HTTPURLResponse {
            report(head, to: entry.receiver)
        }
        entry.receiver.transportDidEnd(error)
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @Sendable @escaping (URLSession.ResponseDisposition) -> Void
    ) {
        // Foundation reports interim responses too (RFC 9110, section 15.2); the final response follows them.
        if let head = response as? HTTPURLResponse, !(100..<200).contains(head.statusCode) { take(head, of: dataTask) }
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        if hasTunnels { deliverHeldHead(of: dataTask) }
        receiver(for: dataTask)?.transportDidReceive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        receiver(for: task)?.transportDidSend(bytesSent, total: totalBytesSent, expected: totalBytesExpectedToSend)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @Sendable @escaping (InputStream?) -> Void
    ) {
        // Foundation sends the request again on another connection when the first one was dropped.
        completionHandler(task.originalRequest?.rewound.httpBodyStream)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @Sendable @escaping (URLRequest?) -> Void
    ) {
        // For a transport, a redirect is an answer like any other; Foundation then delivers it with its body.
        completionHandler(nil)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @Sendable @escaping (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // Foundation asks once the refusal's body has arrived complete, and waits for ever if it gets no answer.
        end(task, nil)
        completionHandler(.cancelAuthenticationChallenge, nil)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        end(task, error)
    }
}

/// The queue on which the transport's session calls its delegate: one call at a time, in order.
///
/// Foundation makes an operation of each call of a delegate, with locks and scheduling of its own. This class passes
/// the call to a dispatch queue directly, which is faster.
///
/// `@unchecked Sendable` because the superclass is; the properties added here do not change.
package final class DelegateQueue: OperationQueue, @unchecked Sendable {
    private let calls = DispatchQueue(label: "waystation.transport")

    /// Slows the session down when its delegate or its loads cannot keep up.
    package let pacer = TransferPacer()

    package override init() {
        super.init()
        maxConcurrentOperationCount = 1
        name = calls.label
    }

    package override func addOperation(_ block: @Sendable @escaping () -> Void) {
        pacer.callQueued()
        calls.async { [pacer] in
            block()
            pacer.callMade()
        }
    }
}

/// Work for dispatch queues that one thread collects, and passes to each queue in one block.
///
/// A transport whose bytes arrive for many loads at once calls their receivers within ``collect(_:)``. Each receiver
/// passes work to the queue of its session, and all loads of a session have the same one: so a turn of an event loop
/// wakes each session's queue once, instead of once for each load.
package enum DeliveryBatch {
    /// Calls `body`, and then passes the work that it added to the queues.
    package static func collect(_ body: () -> Void) {
        guard let key, pthread_getspecific(key) == nil else { return body() }
        let works = Works()
        pthread_setspecific(key, Unmanaged.passUnretained(works).toOpaque())
        body()
        pthread_setspecific(key, nil)
        works.pass()
    }

    /// Adds work for a queue to the batch that this thread collects.
    ///
    /// - Returns: False if the thread collects none: then the caller passes the work to the queue itself.
    package static func add(_ work: @escaping @Sendable () -> Void, for queue: DispatchQueue) -> Bool {
        guard let key, let works = pthread_getspecific(key) else { return false }
        Unmanaged<Works>.fromOpaque(works).takeUnretainedValue().add(work, for: queue)
        return true
    }

    /// The batch of the thread that collects it; used by that thread only.
    private final class Works {
        private var queues: [(queue: DispatchQueue, works: [@Sendable () -> Void])] = []

        func add(_ work: @escaping @Sendable () -> Void, for queue: DispatchQueue) {
            // There are few sessions, and often only one.
            if let index = queues.firstIndex(where: { $0.queue === queue }) {
                queues[index].works.append(work)
            } else {
                queues.append((queue, [work]))
            }
        }

        func pass() {
            for (queue, works) in queues {
                queue.async { for work in works { work() } }
            }
        }
    }

    /// The thread's place for its batch; nil if the system has no place left, and then nothing is collected.
    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
}

extension URLSessionConfiguration {
    /// The `httpAdditionalHeaders` as text; their names and values may be of any type.
    package var additionalFields: [String: String] {
        (httpAdditionalHeaders ?? [:]).reduce(into: [:]) { $0["\($1.key)"] = "\($1.value)" }
    }
}

/// Slows the transfers of a session down to the speed at which their loads take the bytes.
///
/// Foundation cannot pause a transfer: suspending its task drops the connection, and loads again when it is resumed.
/// But all transfers of a session run on one queue. While that queue is suspended, nothing is read from their sockets,
/// nothing is lost, and TCP's own flow control makes the server wait. Tasks can be made, cancelled and time out
/// meanwhile.
package final class TransferPacer: Sendable {
    private static let interval = DispatchTimeInterval.microseconds(250)

    private struct State {
        var pace = TransferPace()
        var longestRest = DispatchTimeInterval.milliseconds(100)
        /// Nil until the session is known, and when its queue is not found: then the transfers never rest.
        var queue: DispatchQueue?
        var backlog: (@Sendable () -> Int)?
    }

    private let state = Mutex(State())
    /// A queue of its own, because the global queues may be full of work that waits for these very transfers.
    private let clock = DispatchQueue(label: "waystation.transport.pace")

    /// Paces the transfers of a session from now on.
    func begin(_ session: URLSession) {
        let queue = FoundationInternals.transferQueue(of: session)
        state.withLock { $0.queue = queue }
    }

    /// Makes the transfers rest while too many bytes wait for their loads; `backlog` returns their number.
    func watch(_ backlog: @escaping @Sendable () -> Int) {
        state.withLock { $0.backlog = backlog }
    }

    /// Sets the longest time that the transfers rest; 100 ms by default.
    package func rest(atMost longestRest: DispatchTimeInterval) {
        state.withLock { $0.longestRest = longestRest }
    }

    /// Records that a call of the session's delegate was queued.
    ///
    /// Call it on the loading queue.
    func callQueued() {
        let (queue, longestRest) = state.withLock { ($0.pace.callQueued() ? $0.queue : nil, $0.longestRest) }
        guard let queue else { return }
        // The suspension begins after the work that runs on the queue now. Each suspension ends, so the queue is never
        // released while it is suspended.
        queue.suspend()
        let end = DispatchTime.now() + longestRest
        clock.async { self.goOn(queue, notAfter: end) }
    }

    /// Records that a call of the session's delegate was made.
    func callMade() {
        state.withLock { $0.pace.callMade() }
    }

    private func goOn(_ queue: DispatchQueue, notAfter end: DispatchTime) {
        let goesOn = state.withLock { state in
            state.pace.goesOn(backlog: state.backlog?() ?? 0, isOverdue: DispatchTime.now() >= end)
        }
        if goesOn { return queue.resume() }
        clock.asyncAfter(deadline: .now() + Self.interval) { self.goOn(queue, notAfter: end) }
    }
}

/// Decides when the transfers of a session must rest: a state machine without side effects.
///
/// While a body has more to read, libcurl asks to be called again at once, and Foundation does so on the loading queue.
/// Other sessions then get no turn there: bytes that have arrived for their tasks wait in memory, and their cancels
/// wait too. So the transfers rest after some calls of their delegate, until these calls were made and the backlog of
/// the loads is small.
package struct TransferPace {
    /// The number of delegate calls that end a turn: 512 KiB in parts of 16 KiB.
    package static let turn = 32
    /// The number of calls that may wait when a turn begins.
    package static let waitingLimit = 16
    /// The number of bytes that may wait for their tasks when a turn begins, or four times that of bytes for a disk.
    ///
    /// With the bytes of a turn, a kill of the process loses less than 1 MiB.
    package static let backlogLimit = 1 << 20

    private var waiting = 0
    private var rest = Self.turn

    package private(set) var isResting = false

    package init() {}

    /// Records that a call was queued; returns true when the transfers must rest from now on.
    package mutating func callQueued() -> Bool {
        waiting += 1
        rest -= 1
        guard !isResting, rest <= 0 else { return false }
        isResting = true
        return true
    }

    /// Records that a call was made.
    package mutating func callMade() { waiting -= 1 }

    /// Lets the transfers continue, if it is time.
    ///
    /// - Parameters:
    ///   - backlog: The number of bytes that wait for their tasks.
    ///   - isOverdue: Whether the transfers have rested for as long as they may. If they have, the transfers continue
    ///     for one call, because their time-outs run meanwhile, and a load whose delegate is slow must not stop the
    ///     others.
    /// - Returns: Whether the transfers continue.
    package mutating func goesOn(backlog: Int, isOverdue: Bool) -> Bool {
        let isDue = waiting <= Self.waitingLimit && backlog <= Self.backlogLimit
        guard isDue || isOverdue else { return false }
        isResting = false
        rest = isDue ? Self.turn : 1
        return true
    }
}
