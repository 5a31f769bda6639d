public import HTTPTypes
import Synchronization
public import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// Loads by the rules of an interceptor, without the price of a task of Foundation's.
///
/// ```swift
/// let client = interceptor.client()
/// let (page, head) = try await client.data(for: url)
/// let events = try await client.response(for: feed)
/// for try await line in events.body.lines { print(line) }
/// ```
///
/// A load through a `URLSession` costs some 60 µs, whatever its source is. A load of this client costs a few
/// microseconds if its answer is in memory. The rules, the cache, the login, the cookies, the events, the recorder and
/// the stubs are those of a session of the same interceptor: a response that one of them has stored is a hit for the
/// other. Requests that no rule takes are sent to the network by the interceptor's engine
/// (``Interceptor/Configuration/transport``).
///
/// Redirects are followed by the rules, at most 20 in a row, with the same care for methods, bodies and credentials as
/// in a session. A server's request for credentials is answered from the configuration's `urlCredentialStorage`.
///
/// Errors are those of a session: `URLError`, whose underlying error is a ``WaystationError`` if a rule decided. A load
/// ends with `URLError.cancelled` when its task is cancelled; cancelling one load does not affect others that wait for
/// the same response. All members may be called from any thread. A load runs on the actor of its caller until it has to
/// wait, so that a hit needs no change of threads.
public final class DirectClient: Sendable {
    private let loads: ClientLoads
    let repeated = RepeatedLoads()

    init(_ loads: ClientLoads) { self.loads = loads }

    // MARK: - Whole responses

    /// Loads a whole response.
    ///
    /// - Parameters:
    ///   - request: The request, with a scheme and an authority.
    ///   - body: The body of the request; none by default.
    ///   - options: The options of this load.
    /// - Returns: The body, without content codings, and the head.
    /// - Throws: `URLError`.
    public nonisolated(nonsending) func data(
        for request: HTTPRequest,
        body: RequestBody = .none,
        options: Options = Options()
    ) async throws -> (Data, HTTPResponse) {
        if body.isNone, options.isPlain, !Task.isCancelled, let load = repeated.load(.message(request), loads) {
            return (load.body, load.head.message)
        }
        let (head, data) = try await whole(Asked(try URLRequest(request), .message(request), options), body)
        return (data, head.message)
    }

    /// Loads a whole response by GET.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: The options of this load.
    /// - Returns: The body, without content codings, and the head.
    /// - Throws: `URLError`.
    public nonisolated(nonsending) func data(
        for url: URL,
        options: Options = Options()
    ) async throws -> (Data, HTTPResponse) {
        if options.isPlain, !Task.isCancelled, let load = repeated.load(.url(url), loads) {
            return (load.body, load.head.message)
        }
        let (head, data) = try await whole(Asked(URLRequest(url: url), .url(url), options), .none)
        return (data, head.message)
    }

    /// Loads a whole response.
    ///
    /// - Parameters:
    ///   - request: The request, whose cache policy and time-out apply unless the options have others.
    ///   - options: The options of this load.
    /// - Returns: The body, without content codings, and the response as Foundation has it.
    /// - Throws: `URLError`.
    public nonisolated(nonsending) func data(
        for request: URLRequest,
        options: Options = Options()
    ) async throws -> (Data, HTTPURLResponse) {
        let (head, data) = try await whole(Asked(request, nil, options), .none)
        guard let response = head.response else { throw URLError.invalidHead(of: head.url) }
        return (data, response)
    }

    // MARK: - Responses that are read as they arrive

    /// Loads a response, whose body is read as it arrives.
    ///
    /// - Parameters:
    ///   - request: The request, with a scheme and an authority.
    ///   - body: The body of the request; none by default.
    ///   - options: The options of this load.
    /// - Returns: The response, as soon as its head has arrived.
    /// - Throws: `URLError`.
    public nonisolated(nonsending) func response(
        for request: HTTPRequest,
        body: RequestBody = .none,
        options: Options = Options()
    ) async throws -> Response {
        try await response(Asked(try URLRequest(request), .message(request), options), body)
    }

    /// Loads a response by GET, whose body is read as it arrives.
    ///
    /// - Parameters:
    ///   - url: The URL.
    ///   - options: The options of this load.
    /// - Returns: The response, as soon as its head has arrived.
    /// - Throws: `URLError`.
    public nonisolated(nonsending) func response(for url: URL, options: Options = Options()) async throws -> Response {
        try await response(Asked(URLRequest(url: url), .url(url), options), .none)
    }

    /// Loads a response, whose body is read as it arrives.
    ///
    /// - Parameters:
    ///   - request: The request, whose cache policy and time-out apply unless the options have others.
    ///   - options: The options of this load.
    /// - Returns: The response, as soon as its head has arrived.
    /// - Throws: `URLError`.
    public nonisolated(nonsending) func response(
        for request: URLRequest,
        options: Options = Options()
    ) async throws -> Response {
        try await response(Asked(request, nil, options), .none)
    }

    // MARK: - Loading

    /// A request as it was asked for.
    private struct Asked {
        var request: URLRequest
        /// The key under which its hop is remembered; nil if it is not.
        let key: RepeatedLoads.Key?
        let options: Options

        init(_ request: URLRequest, _ key: RepeatedLoads.Key?, _ options: Options) {
            (self.request, self.options) = (options.applied(to: request), options)
            self.key = options.isPlain ? key : nil
        }
    }

    private enum Begun {
        case answered(AnsweredLoad)
        case load(DirectLoad)
    }

    private nonisolated(nonsending) func whole(_ asked: Asked, _ body: RequestBody) async throws -> (ResponseHead, Data)
    {
        switch try await begin(asked, body, makeLoad(asked, .whole, since: .now)) {
        case .answered(let load): (load.head, load.body)
        case .load(let load): try await load.whole()
        }
    }

    private nonisolated(nonsending) func response(_ asked: Asked, _ body: RequestBody) async throws -> Response {
        let began = ContinuousClock.now
        return try await response(of: try await begin(asked, body, makeLoad(asked, .parts, since: began)), since: began)
    }

    private nonisolated(nonsending) func response(
        of begun: Begun,
        since began: ContinuousClock.Instant
    ) async throws -> Response {
        switch begun {
        case .answered(let load):
            let metrics = Metrics(load, since: began)
            return Response(load.head, Body(data: load.body), metrics: { metrics })
        case .load(let load):
            let reader = Body.Reader(load)
            return Response(try await load.head(), Body(reader), metrics: { load.metrics })
        }
    }

    /// Makes a load, which its deadline ends.
    private func makeLoad(
        _ asked: Asked,
        _ reading: DirectLoad.Reading,
        since began: ContinuousClock.Instant
    ) -> () -> DirectLoad {
        {
            let (url, options) = (asked.request.url, asked.options)
            let load = DirectLoad(of: url, reading, followsRedirects: options.followsRedirects, since: began)
            guard let deadline = options.deadline else { return load }
            self.loads.interceptor.environment.schedule(deadline) { [weak load] in
                load?.stop(URLError(.timedOut, failing: url, "the load took longer than its deadline, \(deadline)"))
            }
            return load
        }
    }

    /// Begins a load.
    ///
    /// - Parameters:
    ///   - asked: The request.
    ///   - body: Its body.
    ///   - makeLoad: Makes the load, unless the request is answered at once.
    /// - Returns: The answer, or the load.
    /// - Throws: `URLError`, or the error of the body's sequence.
    private nonisolated(nonsending) func begin(
        _ asked: Asked,
        _ body: RequestBody,
        _ makeLoad: () -> DirectLoad
    ) async throws -> Begun {
        guard !Task.isCancelled else { throw URLError.cancelledLoad(of: asked.request.url) }
        let strategy = asked.options.strategy
        guard !body.isNone else { return carryOut(asked, loads.visit(for: asked.request, by: strategy), makeLoad) }
        let load = makeLoad()
        let spool = loads.interceptor.configuration.bodySpool ?? BodySpool()
        let request = try await body.added(to: asked.request, spool, in: load)
        let begun = carryOut(asked, loads.visit(for: request, by: strategy)) { load }
        // The rest of a body that is still arriving is not needed.
        if case .answered = begun { load.stop(URLError.cancelledLoad(of: request.url)) }
        return begun
    }

    /// Answers at once, or begins a journey.
    private func carryOut(_ asked: Asked, _ first: Visit, _ makeLoad: () -> DirectLoad) -> Begun {
        let context = loads.context(of: first)
        let visit = context.answering(first)
        if let answered = loads.answer(to: visit, context) {
            if let key = asked.key { repeated.add(answered, for: key, loads) }
            return .answered(answered)
        }
        let load = makeLoad()
        load.begin { [loads] in
            loads.journey(on: visit, context, for: load)
        } orElse: {
            context.emit(.cancelled)
        }
        return .load(load)
    }
}

/// The loads of another client's calls, whose requests are sent by that client if no rule takes them.
extension DirectClient {
    /// Loads a whole response once more that was answered at once; nil if it is to be loaded as any other.
    package func loadAgain(_ key: RepeatedLoads.Key) -> AnsweredLoad? {
        Task.isCancelled ? nil : repeated.load(key, loads)
    }

    /// Loads a response, if a rule takes its request.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - key: The request as the other client has it, under which its answer is remembered.
    ///   - body: The body of the request.
    ///   - options: The options of the load.
    ///   - willWait: Called if the request is not answered at once, with a function that ends the load with an error.
    /// - Returns: The response, as soon as its head has arrived; nil if no rule takes the request.
    /// - Throws: `URLError`, or the error with which the load was ended.
    package nonisolated(nonsending) func claimedResponse(
        for request: HTTPRequest,
        as key: RepeatedLoads.Key,
        body: RequestBody,
        options: Options,
        willWait: (_ stop: @escaping @Sendable (any Error) -> Void) -> Void
    ) async throws -> Response? {
        let began = ContinuousClock.now
        let asked = Asked(try URLRequest(request), key, options)
        func makeLoad() -> DirectLoad {
            let load = self.makeLoad(asked, .parts, since: began)()
            willWait { [weak load] in load?.stop($0) }
            return load
        }
        guard body.isNone else {
            // The body of a request that is left to the other client must not be read.
            guard loads.claims(asked.request) else { return nil }
            return try await response(of: try await begin(asked, body, makeLoad), since: began)
        }
        guard !Task.isCancelled else { throw URLError.cancelledLoad(of: asked.request.url) }
        guard let visit = loads.claimedVisit(for: asked.request) else { return nil }
        return try await response(of: carryOut(asked, visit, makeLoad), since: began)
    }
}

extension Interceptor {
    /// Makes a client that loads by the interceptor's rules, without a `URLSession`.
    ///
    /// - Parameter configuration: The additional fields, the time-out of requests, proxies, and the storages of cookies and
    ///   credentials of the client's loads, as for a session that is not intercepted; it is copied. Its
    ///   `timeoutIntervalForResource` does not apply: ``DirectClient/Options/deadline`` limits a whole load.
    /// - Returns: The client, which keeps the interceptor.
    public func client(configuration: URLSessionConfiguration = .default) -> DirectClient {
        DirectClient(ClientLoads(self, configuration, answersSeveralUsers: false))
    }
}

extension DirectClient {
    /// The options of one load.
    public struct Options: Sendable {
        /// The strategy of the cache in place of that of the request's rule; nil, the default, for the rule's own.
        ///
        /// It does not change anything for a URL whose rule has no cache.
        public var strategy: CacheStrategy?
        /// The cache policy of the request, with the meaning that it has in a session; nil, the default, for that of
        /// the `URLRequest`, or `useProtocolCachePolicy`.
        public var cachePolicy: URLRequest.CachePolicy?
        /// How long the server may be silent; nil, the default, for the interval of the `URLRequest`, or that of the
        /// client's configuration.
        public var timeout: Duration?
        /// How long the whole load may take, from the call to the end of the body; nil, the default, for no limit.
        ///
        /// A load that takes longer ends with `URLError.timedOut`.
        public var deadline: Duration?
        /// The urgency of the load, from 0, the most urgent, to 7; nil, the default, for none.
        ///
        /// The request has it in the field `Priority` (RFC 9218 §4.1), which a server may ignore. A value below 0 counts as
        /// 0, and one above 7 as 7.
        public var urgency: Int?
        /// Whether redirects are followed; true by default.
        ///
        /// Otherwise a redirect to an http or https URL is the response. A redirect to another scheme goes to the handler
        /// of external links, or is an error, in any case.
        public var followsRedirects = true

        /// Makes the default options.
        public init() {}

        /// Whether all options are the default ones.
        var isPlain: Bool {
            strategy == nil && cachePolicy == nil && timeout == nil && deadline == nil && urgency == nil
                && followsRedirects
        }

        /// The request with these options.
        func applied(to request: URLRequest) -> URLRequest {
            guard !isPlain else { return request }
            var request = request
            if let cachePolicy { request.cachePolicy = cachePolicy }
            if let timeout { request.timeoutInterval = timeout.inSeconds }
            if let urgency {
                request.setValue("u=\(min(max(urgency, 0), 7))", forHTTPHeaderField: "Priority")
            }
            return request
        }
    }

    /// The source, the times and the bytes of a load.
    public struct Metrics: Sendable {
        /// The source of the response.
        public let source: LoadEvent.Source
        /// The time from the call to the head.
        public let timeToHead: Duration
        /// The time from the call to the end of the body; nil before.
        public let duration: Duration?
        /// The number of bytes of the body that have arrived, without content codings.
        public let receivedBytes: Int
    }

    /// A response whose body is read as it arrives.
    public struct Response: Sendable {
        /// The status and the fields.
        ///
        /// The field `Cache-Status` says how Waystation has handled the request (RFC 9211).
        public let head: HTTPResponse
        /// The head as the load has it.
        package let loadedHead: ResponseHead
        /// The URL of the response, after redirects.
        public let url: URL?
        /// The body, without content codings; one task may read it.
        public let body: Body
        private let measured: @Sendable () -> Metrics

        init(_ head: ResponseHead, _ body: Body, metrics: @escaping @Sendable () -> Metrics) {
            self.head = head.message
            loadedHead = head
            url = head.url
            self.body = body
            measured = metrics
        }

        /// The source, the times and the bytes of the load so far.
        public var metrics: Metrics { measured() }
    }
}

extension DirectClient.Metrics {
    /// The metrics of a load that was answered at once.
    fileprivate init(_ load: AnsweredLoad, since began: ContinuousClock.Instant) {
        let time = began.duration(to: .now)
        self.init(source: load.source, timeToHead: time, duration: time, receivedBytes: load.body.count)
    }
}

/// The hops of the requests that were answered at once.
///
/// When a request comes again, its `URLRequest` need not be made again, and its rule need not be looked for. The login,
/// the cookies and the sources decide about it as about the first one.
package final class RepeatedLoads: Sendable {
    /// A request as its client has it, so that it need not be translated to be found.
    package enum Key: Hashable, Sendable {
        case url(URL)
        case message(HTTPRequest)
        /// The names and values of the fields follow each other.
        case text(url: String, method: String, fields: [String])

        package func hash(into hasher: inout Hasher) {
            switch self {
            case .url(let url): hasher.combine(url)
            case .text(let url, _, let fields):
                hasher.combine(url)
                for text in fields { hasher.combine(text) }
            case .message(let message):
                // The scheme, the method and the names of the fields are compared, and are not part of the hash.
                hasher.combine(message.authority)
                hasher.combine(message.path)
                for field in message.headerFields { hasher.combine(field.value) }
            }
        }

        /// The approximate length of the request, in bytes.
        var length: Int {
            switch self {
            case .url(let url): url.absoluteString.utf8.count
            case .text(let url, _, let fields): fields.reduce(url.utf8.count) { $0 + $1.utf8.count }
            case .message(let message):
                message.headerFields.reduce(message.path?.utf8.count ?? 0) { $0 + $1.value.utf8.count }
            }
        }
    }

    static let limit = 2_048
    /// A longer request is not remembered: a server could make a program ask for long ones only to fill its memory.
    static let longest = 1_024

    /// The number of hops.
    var count: Int { hops.withLock(\.count) }

    private let hops = Mutex(LeastRecentlyUsed<Key, Hop>())

    /// Loads a request once more that was answered at once; nil if it is to be loaded as any other.
    func load(_ key: Key, _ loads: ClientLoads) -> AnsweredLoad? {
        // To note the use of each would take as long as a twelfth of a hit, so the hop that was added first goes first.
        let known = hops.withLock { hops in hops.position(of: key).flatMap { hops[$0] } }
        guard let known, let visit = loads.visit(again: known) else { return nil }
        return loads.answer(to: visit, loads.context(of: visit))
    }

    func add(_ load: AnsweredLoad, for key: Key, _ loads: ClientLoads) {
        // A transport of a rule, such as one with stubs, counts its requests, so it must be asked each time.
        guard load.hop.match != nil, load.source != .network, loads.hasLastingRules, loads.hasLastingCookies,
            // The key has no body.
            load.hop.request.httpBody == nil, load.hop.request.httpBodyStream == nil, key.length <= Self.longest
        else { return }
        let dropped = hops.withLock { hops in
            [hops.insert(load.hop, for: key, cost: 1), hops.count > Self.limit ? hops.removeOldest() : nil]
        }
        withExtendedLifetime(dropped) {}
    }
}
