/// The rules of a private HTTP cache, with the choices that the RFCs leave to it.
///
/// This target makes decisions; it does no I/O, has no clock and does not depend on an HTTP engine. A client passes in
/// values of swift-http-types and the current time, and gets back the next step:
///
/// ```swift
/// func load(_ request: HTTPRequest) async throws -> (HTTPResponse, Data) {
///     let stored = try await store.variants(of: request)  // all variants of the URL
///     switch ReuseDecision(for: request, among: stored.map(\.head), now: .now) {
///     case .fresh(let selection), .stale(let selection, _, nil):
///         return (selection.response, stored[selection.index].content(selection.content))
///     case .stale(let selection, _, let revalidation?):
///         Task { try await validate(revalidation, stored) }  // stale-while-revalidate
///         return (selection.response, stored[selection.index].content(selection.content))
///     case .revalidate(let revalidation):
///         return try await validate(revalidation, stored)
///     case .gatewayTimeout:
///         return (HTTPResponse(status: .gatewayTimeout), Data())  // only-if-cached
///     case .forward:
///         return try await forward(request)
///     }
/// }
///
/// func forward(_ request: HTTPRequest) async throws -> (HTTPResponse, Data) {
///     let (response, content, sent, received) = try await engine.send(request)
///     try await store.remove(Invalidation(after: request, response: response).urls)
///     let decision = StoringDecision(of: response, to: request, requestTime: sent, responseTime: received)
///     if case .store(let head) = decision { try await store.add(head, content) }
///     return (response, content)
/// }
///
/// func validate(_ revalidation: Revalidation, _ stored: [Stored]) async throws -> (HTTPResponse, Data) {
///     guard let (response, content, sent, received) = try? await engine.send(revalidation.request) else {
///         guard let selection = revalidation.standIn(for: .unreachable, now: .now) else {
///             return (HTTPResponse(status: .gatewayTimeout), Data())
///         }
///         return (selection.response, stored[selection.index].content(selection.content))
///     }
///     switch ValidationOutcome(of: response, to: revalidation, requestTime: sent, responseTime: received) {
///     case .freshened(let selection, let changes):  // 304
///         try await store.make(changes, to: stored)
///         return (selection.response, stored[selection.index].content(selection.content))
///     case .replaced(let decision, let outdated):  // a response of its own
///         try await store.remove(outdated.map { stored[$0] })
///         if case .store(let head) = decision { try await store.add(head, content) }
///         return (response, content)
///     case .standIn(let selection):  // stale-if-error
///         return (selection.response, stored[selection.index].content(selection.content))
///     case .passOn(let changes):  // for the client alone
///         try await store.make(changes, to: stored)
///         return (response, content)
///     case .reload(let request):  // a 304 that fits nothing stored
///         return try await forward(request)
///     }
/// }
/// ```
///
/// All types here are plain `Sendable` structs and enums; no value that a server or a store supplies causes a trap.
public struct CachingRules: Hashable, Sendable {
    /// Which stale responses may be used when the network cannot be reached (RFC 9111 §4.2.4).
    public enum DisconnectedUse: Hashable, Sendable {
        /// No stale response.
        case never
        /// A response that is past its lifetime by no more than this.
        case upTo(Duration)
        /// Any stored response whose use is not forbidden.
        case always
    }

    /// The fraction of the time since `Last-Modified` for which a response without an explicit lifetime is fresh; a
    /// tenth by default, the value that RFC 9111 §4.2.2 calls typical.
    ///
    /// Zero switches heuristics off; so does a negative value or NaN.
    public var heuristicFraction: Double = 0.1

    /// The longest heuristic lifetime; seven days by default.
    ///
    /// Otherwise a page that was last changed ten years ago would be fresh for a year although no server said so. At
    /// least one browser has such a limit, and it is a week.
    public var heuristicMaximum: Duration = .seconds(7 * 86_400)

    /// Whether heuristics apply to URLs with a query; false by default.
    ///
    /// RFC 2616 §13.9 forbade it. RFC 9111 §4.2.2 only mentions that, but servers written before it may still rely on
    /// it.
    public var usesHeuristicsForQueries = false

    /// The status codes whose responses are stored without being marked as storable: those of RFC 9110 §15.1, except
    /// 206, which is never stored.
    ///
    /// Add a code only by agreement with the servers in question; otherwise RFC 9111 §3 does not allow it.
    public var heuristicStatuses: Set<Int> = Self.heuristicStatusesOfRFC9110

    /// The status codes whose caching rules are implemented in full, for `must-understand` (RFC 9111 §5.2.2.3).
    public var understoodStatuses: Set<Int> = Self.statusesOfRFC9110

    /// How far the clock may go back before the age of a stored response counts as unknown; one minute by default.
    ///
    /// A response that was received later than now, by more than this, has an unknown age and is not fresh (RFC 9111
    /// §4: a cache without a clock validates on every use).
    public var clockTolerance: Duration = .seconds(60)

    /// Which stale responses may be used when the network cannot be reached; ``DisconnectedUse/always`` by default,
    /// limited by what the store keeps.
    ///
    /// Whatever its value, `no-cache`, `must-revalidate` and a request that asks for a fresh response are still obeyed.
    public var staleWhenDisconnected: DisconnectedUse = .always

    /// Whether a 304 without any validator updates the stored response if only that response's validator was sent; true
    /// by default.
    ///
    /// RFC 9110 §15.4.5 requires the server to repeat its `ETag`; many servers leave it out. Strictly by RFC 9111
    /// §4.3.4 such a 304 identifies no stored response: when this is false, the stored response answers this one
    /// request, but its fields are not updated, and so it stays stale.
    public var trustsBareNotModified = true

    /// Whether the cache answers several users, whose credentials it does not choose; false by default.
    ///
    /// With true, responses that are meant for one user are neither stored nor used, as in a shared cache (RFC 9111
    /// §5.2.2.7). In everything else the cache stays a private one.
    package var servesSeveralUsers = false

    /// The maximum number of entity tags of stored variants in one conditional request; 16 by default.
    public var maximumCombinedTags = 16

    /// The default rules, as the RFCs define them.
    public static let standard = CachingRules()

    /// Makes the default rules, which you can then change.
    public init() {}

    // The sets of status codes are made once, so that making rules allocates no memory.
    private static let heuristicStatusesOfRFC9110: Set<Int> = [
        200, 203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501,
    ]

    private static let statusesOfRFC9110: Set<Int> = [
        200, 201, 202, 203, 204, 205, 206, 300, 301, 302, 303, 305, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407,
        408,
        409, 410, 411, 413, 414, 415, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]
}
