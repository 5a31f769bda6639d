import Synchronization
public import WaystationFoundation

/// Gets every load that an interceptor took, with request, response and body, so that it can keep a recording.
///
/// Set one as ``Interceptor/Configuration/recorder``. `HARRecorder` of the module WaystationRecording writes HAR files.
public protocol ExchangeRecorder: Sendable {
    /// The number of bytes of each body that are collected; further bytes are counted and not kept.
    var bodyLimit: Int { get }

    /// Called when a load ends, by its answer or by an error, before the app gets the end.
    ///
    /// A redirect that is followed is reported as an exchange of its own. It is called on any thread, often on the
    /// queue that all sessions of the process share: return at once.
    func exchangeDidEnd(_ exchange: RecordedExchange)

    /// Called when a load ends because it was cancelled, in place of ``exchangeDidEnd(_:)``.
    ///
    /// The exchange has the response and the number of bytes that the app had got by then, and the error
    /// `URLError.cancelled`. The bytes that Foundation's own loader has delivered are not counted. The method is called
    /// on any thread: return at once. The default implementation does nothing.
    func exchangeWasCancelled(_ exchange: RecordedExchange)
}

extension ExchangeRecorder {
    /// Does nothing: a recorder that wants cancelled loads has a method of its own.
    public func exchangeWasCancelled(_ exchange: RecordedExchange) {}
}

/// One request and its result, as the app saw it.
public struct RecordedExchange: Sendable {
    /// The request that was answered: the app's request, or the one that a redirect or credentials made of it.
    public var request: URLRequest
    /// The response; nil when the load failed without one.
    public var response: HTTPURLResponse?
    /// The body as it was delivered, without content coding, cut at the recorder's limit.
    ///
    /// It is nil when it was not seen, because Foundation wrote it into the file of a download or because it belongs to
    /// a redirect.
    public var body: Data?
    /// The number of bytes that the body had.
    public var bodyLength: Int
    /// The source of the answer; nil for a redirect that was followed.
    public var source: LoadEvent.Source?
    /// The index of the rule that decided about the request; nil if no rule did.
    public var rule: Int?
    /// The error of a load that failed; nil otherwise.
    public var error: URLError?
    /// The time at which the load began, by the interceptor's clock.
    public var begun: Date
    /// The time from the beginning to the response, in seconds.
    public var wait: TimeInterval
    /// The time from the beginning to the end, in seconds.
    public var duration: TimeInterval

    /// Whether ``body`` has fewer bytes than were delivered.
    public var isBodyCut: Bool { (body?.count ?? 0) < bodyLength }

    /// Makes an exchange; for recorders and their tests.
    public init(
        request: URLRequest,
        response: HTTPURLResponse? = nil,
        body: Data? = nil,
        bodyLength: Int? = nil,
        source: LoadEvent.Source? = nil,
        rule: Int? = nil,
        error: URLError? = nil,
        begun: Date,
        wait: TimeInterval = 0,
        duration: TimeInterval = 0
    ) {
        self.request = request
        self.response = response
        self.body = body
        self.bodyLength = bodyLength ?? body?.count ?? 0
        self.source = source
        self.rule = rule
        self.error = error
        self.begun = begun
        self.wait = wait
        self.duration = duration
    }
}

/// The recorders of an interceptor: that of its configuration, and those that are added while it runs.
final class Recorders: Sendable {
    private let all: Mutex<[(id: Int, recorder: any ExchangeRecorder)]>
    /// Read first for every load, because most interceptors have no recorder.
    private let count: Atomic<Int>
    private let added = Atomic(0)

    /// Begins with the recorder of the configuration.
    init(_ recorder: (any ExchangeRecorder)?) {
        all = Mutex(recorder.map { [(0, $0)] } ?? [])
        count = Atomic(recorder == nil ? 0 : 1)
    }

    /// The recorder for a load that begins now; nil if no recorder is registered.
    var current: (any ExchangeRecorder)? {
        guard count.load(ordering: .relaxed) > 0 else { return nil }
        let recorders = all.withLock { $0.map(\.recorder) }
        return recorders.count > 1 ? SeveralRecorders(recorders) : recorders.first
    }

    /// Adds a recorder for the loads that begin from now on, and returns the function that removes it.
    func add(_ recorder: any ExchangeRecorder) -> @Sendable () -> Void {
        let id = added.add(1, ordering: .relaxed).newValue
        all.withLock { $0.append((id, recorder)) }
        count.add(1, ordering: .relaxed)
        return { [weak self] in
            guard let self else { return }
            let isRemoved = all.withLock { all in
                let before = all.count
                all.removeAll { $0.id == id }
                return all.count < before
            }
            if isRemoved { count.subtract(1, ordering: .relaxed) }
        }
    }
}

/// Passes each exchange to several recorders, with no more of its body than each of them collects.
private struct SeveralRecorders: ExchangeRecorder {
    let recorders: [any ExchangeRecorder]

    init(_ recorders: [any ExchangeRecorder]) { self.recorders = recorders }

    var bodyLimit: Int { recorders.map(\.bodyLimit).max() ?? 0 }

    func exchangeDidEnd(_ exchange: RecordedExchange) {
        for recorder in recorders { recorder.exchangeDidEnd(exchange.cut(to: recorder.bodyLimit)) }
    }

    func exchangeWasCancelled(_ exchange: RecordedExchange) {
        for recorder in recorders { recorder.exchangeWasCancelled(exchange.cut(to: recorder.bodyLimit)) }
    }
}

extension RecordedExchange {
    /// The exchange with no more of its body than a number of bytes.
    fileprivate func cut(to limit: Int) -> RecordedExchange {
        guard let body, body.count > limit else { return self }
        var exchange = self
        exchange.body = Data(body.prefix(max(0, limit)))
        return exchange
    }
}
