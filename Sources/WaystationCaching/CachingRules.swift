/// The rules of a private HTTP cache, with the choices that the RFCs leave to it.
///
/// This target decides; it does no I/O, has no clock and knows no HTTP engine. A client gives it values of
/// swift-http-types and the present time, and gets back the next step:
///
/// ```swift
/// func load(_ request: HTTPRequest) async throws -> (HTTPResponse, Data) {
///     let stored = try await store.exchanges(for: request)  // all variants of the URL
///     switch ReuseDecision(for: request, among: stored.map(\.exchange), now: .now) {
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
///     if case .store(let exchange) = decision { try await store.add(exchange, content) }
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
///         if case .store(let exchange) = decision { try await store.add(exchange, content) }
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
/// All values here are plain `Sendable` structs and enums; nothing traps on what a server or a store says.
public struct CachingRules: Hashable, Sendable {
    /// What may stand in when the network cannot be reached (RFC 9111 §4.2.4).
    public enum DisconnectedUse: Hashable, Sendable {
        /// Nothing stale.
        case never
        /// A response that is past its lifetime by no more than this.
        case upTo(Duration)
        /// Any stored response that is not forbidden.
        case always
    }

    /// The part of the time since `Last-Modified` that a response without explicit lifetime is fresh; a tenth by
    /// default, the value that RFC 9111 §4.2.2 calls typical.
    ///
    /// Zero switches heuristics off; a negative value or one that is no number does too.
    public var heuristicFraction: Double = 0.1

    /// The longest heuristic lifetime; seven days by default.
    ///
    /// A page that was last changed ten years ago would otherwise be fresh for a year on nobody's word. A week is
    /// the bound that a browser with one uses.
    public var heuristicMaximum: Duration = .seconds(7 * 86_400)

    /// Whether heuristics apply to URLs with a query; false by default.
    ///
    /// RFC 2616 §13.9 forbade it. RFC 9111 §4.2.2 only recalls that, but servers older than it still count on it.
    public var usesHeuristicsForQueries = false

    /// The status codes whose responses are stored without being marked as storable: those of RFC 9110 §15.1, except
    /// 206, which is never stored.
    ///
    /// Adding to them is an agreement with the servers at hand; RFC 9111 §3 does not allow it otherwise.
    public var heuristicStatuses: Set<Int> = Self.heuristicStatusesOfRFC9110

    /// The status codes whose caching rules are implemented in full, for `must-understand` (RFC 9111 §5.2.2.3).
    public var understoodStatuses: Set<Int> = Self.statusesOfRFC9110

    /// How far the clock may go back without making the age of what was stored unknown; one minute by default.
    ///
    /// A response that was received later than now, by more than this, has no age that can be told and is not fresh
    /// (RFC 9111 §4: a cache without a clock validates on every use).
    public var clockTolerance: Duration = .seconds(60)

    /// What may stand in when the network cannot be reached; ``DisconnectedUse/always`` by default, bounded by what
    /// the store keeps.
    ///
    /// Whatever it says, `no-cache`, `must-revalidate` and a request that asks for something fresh keep their word.
    public var staleWhenDisconnected: DisconnectedUse = .always

    /// Whether a 304 without any validator updates the response whose one validator was sent; true by default.
    ///
    /// RFC 9110 §15.4.5 has the server repeat its `ETag`; many leave it out. Strictly by RFC 9111 §4.3.4 such a 304
    /// identifies nothing: when false, the stored response answers this one request, but its fields are not updated,
    /// and so it stays stale.
    public var trustsBareNotModified = true

    /// The most entity tags of stored variants that one conditional request lists; 16 by default.
    public var maximumCombinedTags = 16

    /// The rules as the RFCs have them.
    public static let standard = CachingRules()

    /// The rules as the RFCs have them, to be changed.
    public init() {}

    // Kept once, so that making rules allocates nothing.
    private static let heuristicStatusesOfRFC9110: Set<Int> = [
        200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501,
    ]

    private static let statusesOfRFC9110: Set<Int> = [
        200, 201, 202, 203, 204, 205, 300, 301, 302, 303, 305, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408,
        409, 410, 411, 413, 414, 415, 417, 421, 422, 426, 500, 501, 502, 503, 504, 505,
    ]
}
