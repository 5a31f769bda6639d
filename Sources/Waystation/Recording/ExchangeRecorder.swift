public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

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
