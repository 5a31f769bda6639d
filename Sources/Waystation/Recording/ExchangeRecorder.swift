public import Foundation
public import FoundationNetworking

/// Hears of every load that an interceptor took, with request, response and body: to keep a recording of it.
///
/// Set one as ``Interceptor/Configuration/recorder``. `HARRecorder` of the module WaystationRecording writes HAR files.
public protocol ExchangeRecorder: Sendable {
    /// How many bytes of each body are collected for it; what exceeds that is counted and not kept.
    var bodyLimit: Int { get }

    /// A load ends, by its answer or by an error, and the app is about to hear of it.
    ///
    /// A redirect that is followed is told as an exchange of its own; loads that were cancelled are not told. Called on
    /// any thread, often on the queue that all sessions of the process share: return at once.
    func exchangeDidEnd(_ exchange: RecordedExchange)
}

/// One request and what became of it, as the app saw it.
public struct RecordedExchange: Sendable {
    /// What answered: the app's request, or what was made of it by a redirect or by credentials.
    public var request: URLRequest
    /// The response; nil where the load failed without one.
    public var response: HTTPURLResponse?
    /// The body as it was delivered, without content coding, cut at the recorder's limit; nil where it was not seen,
    /// since Foundation wrote it into the file of a download or it belongs to a redirect.
    public var body: Data?
    /// How many bytes the body had.
    public var bodyLength: Int
    /// Where the answer came from; nil for a redirect that was followed.
    public var source: LoadEvent.Source?
    /// Why the load failed.
    public var error: URLError?
    /// When the load began, by the interceptor's clock.
    public var begun: Date
    /// From the beginning to the response, in seconds.
    public var wait: TimeInterval
    /// From the beginning to the end, in seconds.
    public var duration: TimeInterval

    /// Whether ``body`` is less than what was delivered.
    public var isBodyCut: Bool { (body?.count ?? 0) < bodyLength }

    /// An exchange; for recorders and their tests.
    public init(
        request: URLRequest,
        response: HTTPURLResponse? = nil,
        body: Data? = nil,
        bodyLength: Int? = nil,
        source: LoadEvent.Source? = nil,
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
        self.error = error
        self.begun = begun
        self.wait = wait
        self.duration = duration
    }
}
