import HTTPTypes
import Synchronization
import WaystationFoundation
import WaystationHTTP
import WaystationStorage

/// The store of a response cache, and the settings by which its responses are stored and reused.
final class CacheAccess: Sendable {
    let store: ResponseStore
    /// The responses that the cache shares with other machines; nil if it shares none.
    let shared: SharedResponses?
    /// The choices that the RFCs leave to a cache.
    let rules: CachingRules
    /// Whether bodies that arrive in a content coding are stored.
    let storesCodedBodies: Bool
    let now: @Sendable () -> Date
    /// Runs an action after a delay.
    let schedule: @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void
    let events: EventBroadcaster
    /// The URLs of the keys under which the rules store the responses of a URL.
    let keyedURLs: KeyedURLs

    init(
        _ store: ResponseStore,
        shared: SharedResponses?,
        keyedURLs: KeyedURLs = KeyedURLs(),
        rules: CachingRules,
        storesCodedBodies: Bool,
        now: @escaping @Sendable () -> Date,
        schedule: @escaping @Sendable (_ delay: Duration, _ work: @escaping @Sendable () -> Void) -> Void,
        events: EventBroadcaster
    ) {
        self.store = store
        self.shared = shared
        self.keyedURLs = keyedURLs
        self.rules = rules
        self.storesCodedBodies = storesCodedBodies
        self.now = now
        self.schedule = schedule
        self.events = events
    }

    /// The same store, for the clients of a server, each of which has credentials of its own.
    var forSeveralUsers: CacheAccess {
        var rules = rules
        rules.servesSeveralUsers = true
        return CacheAccess(
            store,
            shared: shared,
            keyedURLs: keyedURLs,
            rules: rules,
            storesCodedBodies: storesCodedBodies,
            now: now,
            schedule: schedule,
            events: events
        )
    }

    /// The stored responses that may be used: not those for one user, which the app's own sessions have stored, if there
    /// are several users.
    func usable(_ responses: [StoredResponse]) -> [StoredResponse] {
        guard rules.servesSeveralUsers else { return responses }
        return responses.filter { $0.head.cacheControl.private == .nothing }
    }
}

extension CacheAccess {
    /// Whether a response is stored: its fields and the strategy must allow it, and the end of its body must be certain.
    ///
    /// - Parameters:
    ///   - head: The head of the response.
    ///   - request: The request.
    ///   - strategy: The strategy of its rule.
    ///   - tags: The tags of its rule.
    ///   - isPosted: Whether the response is to a POST, and is stored for later ones with the same body.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the head arrived.
    /// - Returns: The head to store, or the reason why nothing is stored.
    func decision(
        _ head: ResponseHead,
        to request: HTTPRequest,
        by strategy: CacheStrategy,
        tags: [String],
        isPosted: Bool = false,
        requestTime: Date,
        responseTime: Date
    ) -> StoringDecision {
        let decision = strategy.storing(
            head,
            to: request,
            requestTime: requestTime,
            responseTime: responseTime,
            rules: rules
        )
        guard case .store(let stored) = decision else { return decision }
        // The bytes of a part of a coded content cannot be decoded.
        guard head.statusCode != 206 || !head.isCoded else { return .refuse(.partialContent) }
        // RFC 9110 §9.3.3: such a response needs an explicit lifetime, unless the strategy has one of its own.
        if isPosted, strategy.obeysHTTP, stored.cacheControl.maxAge == nil, stored.headerFields[.expires] == nil {
            return .refuse(.notMarkedStorable)
        }
        // The digest of a coded content is not that of the decoded bytes.
        let mayBeCoded = storesCodedBodies && !strategy.checksDigests
        return head.doubt(storesCodedBodies: mayBeCoded).map { .refuse($0) } ?? .store(stored.tagged(tags))
    }

    /// The action for the head of a request's response: it drops the stored responses that the response invalidates
    /// (RFC 9111 §4.4).
    ///
    /// The action is run before the app gets the head, so that its next load does not get an outdated response.
    ///
    /// - Returns: The action; nil for a safe method, whose response invalidates nothing.
    func invalidation(after request: URLRequest) -> (@Sendable (ResponseHead) -> Void)? {
        guard let canonical = CanonicalRequest(request), !canonical.isSafe,
            let message = HTTPRequest(request, canonical: canonical)
        else { return nil }
        return { self.invalidate(after: message, $0) }
    }

    /// Drops the stored responses that a response invalidates.
    func invalidate(after request: HTTPRequest, _ head: ResponseHead) {
        let invalidation = Invalidation(after: request, response: HTTPResponse(head))
        // Invalidates for every login, because the resources have changed for all of them.
        for url in invalidation.urls {
            for url in keyedURLs.all(of: URL(string: url).map(CanonicalRequest.storedURL(of:)) ?? url) {
                invalidate(.url(url))
            }
        }
        if !invalidation.groups.isEmpty { invalidate(.labels(invalidation.groups, .hard)) }
    }

    /// Reports that a body does not have the digest that its response states.
    func report(_ mismatch: URLError) {
        let url = mismatch.userInfo[NSURLErrorFailingURLErrorKey] as? URL
        events.emit(LoadEvent(kind: .degraded(mismatch.localizedDescription), url: url))
    }

    /// Drops all stored responses of an origin, which has demanded that by `Clear-Site-Data`.
    func clear(_ origin: String) { invalidate(.origin(origin)) }

    private func invalidate(_ scope: SharedScope) {
        shared?.invalidate(scope)
        scope.invalidate(in: store)
    }
}

/// Stores the response to a POST that answers later GETs, and passes it on.
///
/// It does if the response has an explicit lifetime and a `Content-Location` that is the target of the POST (RFC 9110
/// §9.3.3). The stored responses that the POST invalidates are dropped before.
final class PostedResponse: TransportReceiver {
    private let key: RequestKey
    private let message: HTTPRequest
    private let strategy: CacheStrategy
    private let tags: [String]
    private let cache: CacheAccess
    private let receiver: any TransportReceiver
    private let recorder: ResponseRecorder
    private let sent: Date
    /// When the request was sent, in the order of the store's invalidations.
    private let moment: StoreMoment
    private let check = Mutex<DigestCheck?>(nil)

    /// - Parameters:
    ///   - message: The request.
    ///   - key: The key of a GET for its target.
    ///   - strategy: The strategy of its rule.
    ///   - tags: The tags of its rule.
    ///   - cache: The cache that stores the response.
    ///   - receiver: Gets the response.
    init(
        to message: HTTPRequest,
        under key: RequestKey,
        by strategy: CacheStrategy,
        _ tags: [String],
        in cache: CacheAccess,
        for receiver: any TransportReceiver
    ) {
        (self.message, self.key, self.strategy, self.tags, self.cache) = (message, key, strategy, tags, cache)
        self.receiver = receiver
        recorder = ResponseRecorder(cache.store)
        sent = cache.now()
        moment = cache.store.moment()
    }

    func transportDidReceive(_ head: ResponseHead) {
        let decision = cache.decision(
            head,
            to: message,
            by: strategy,
            tags: tags,
            requestTime: sent,
            responseTime: cache.now()
        )
        // An invalidation by another load, since the request was sent, is also one of this response.
        let isOutdated = cache.store.hasInvalidated(key, since: moment)
        cache.invalidate(after: message, head)
        if strategy.checksDigests { check.withLock { $0 = DigestCheck(head, to: message.method) } }
        if case .store(let stored) = decision, !isOutdated {
            recorder.begin(stored, under: key, length: head.statedLength, asOf: cache.store.moment())
        }
        receiver.transportDidReceive(head)
    }

    func transportDidReceive(_ part: Data) {
        check.withLock { $0?.update(part) }
        recorder.append(part)
        receiver.transportDidReceive(part)
    }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        receiver.transportDidSend(count, total: total, expected: expected)
    }

    func transportDidEnd(_ error: (any Error)?) {
        let mismatch = error == nil ? check.withLock { $0?.error(of: URL(string: key.url)) } : nil
        if let mismatch { recorder.discard(); cache.report(mismatch) } else { recorder.end(isComplete: error == nil) }
        receiver.transportDidEnd(error ?? mismatch)
    }
}

/// The stored responses of one key, newest first, and the file of a pack under them.
struct StoredVariants: Sendable {
    let responses: [StoredResponse]
    /// The file of a pack under the stored responses; it counts as the oldest.
    let packed: PackedVariant?
    /// The parts among the stored responses, joined; they come last.
    private let joined: [StoredParts]
    /// The heads of all of them, by which the caching rules decide.
    let heads: [StoredHead]
    /// The store from which joined parts are removed that do not have the digest of the whole; nil if that is not checked.
    private var checkedStore: ResponseStore?

    init(_ responses: [StoredResponse], over packed: PackedVariant? = nil) {
        self.responses = responses
        self.packed = packed
        let stored = responses.map(\.head)
        joined = StoredParts.joined(among: stored)
        // Most keys have one response, whose head is then the only one.
        let others = [packed?.head].compactMap(\.self) + joined.map(\.head)
        heads = others.isEmpty ? stored : stored + others
    }

    /// The parts that are joined at an index; nil for the index of one response.
    func parts(at index: Int) -> StoredParts? {
        let place = index - responses.count - (packed == nil ? 0 : 1)
        return joined.indices.contains(place) ? joined[place] : nil
    }

    /// The stored responses at an index: several for that of joined parts, none for that of the pack's file.
    func rows(at index: Int) -> [StoredResponse] {
        if let parts = parts(at: index) { return parts.pieces.map { responses[$0.index] } }
        return response(at: index).map { [$0] } ?? []
    }

    /// The stored response at an index; nil for the index of the pack's file, and for that of joined parts.
    func response(at index: Int) -> StoredResponse? {
        responses.indices.contains(index) ? responses[index] : nil
    }

    /// The content at an index, in memory or on disk.
    func body(at index: Int) -> Answer.Body? {
        if index == responses.count, let packed { return packed.body }
        if let parts = parts(at: index) { return .source(JoinedBody(parts, of: responses)) }
        return response(at: index).map { Answer.Body($0.body) }
    }

    static let none = StoredVariants([])

    /// The same responses, whose joined parts are compared with the digest of the whole when they answer.
    func checked(in store: ResponseStore) -> StoredVariants {
        var variants = self
        variants.checkedStore = store
        return variants
    }

    /// The whole body of joined parts, which is checked as it is read, if that was asked for.
    private func checked(_ body: Answer.Body, at index: Int, of url: URL) -> Answer.Body {
        guard let checkedStore, let parts = parts(at: index), parts.head.isComplete, case .source(let source) = body,
            let check = DigestCheck(StatedDigests(ofRepresentation: parts.head.headerFields))
        else { return body }
        let rows = rows(at: index)
        return .source(CheckedBody(source, check, of: url) { checkedStore.remove(rows) { _ in } })
    }

    /// The answer for a selection.
    ///
    /// - Parameters:
    ///   - selection: A selection among these responses.
    ///   - request: The app's request, whose URL the response gets.
    ///   - status: The status for the response's `Cache-Status` field.
    /// - Returns: The answer; nil if the request has no URL.
    func answer(_ selection: StoredSelection, to request: URLRequest, _ status: CacheStatus) -> Answer? {
        guard var whole = body(at: selection.index), let url = request.url else { return nil }
        if selection.content.isWhole(of: whole.length) { whole = checked(whole, at: selection.index, of: url) }
        let packed = selection.index == responses.count ? packed : nil
        let source = packed?.source ?? .cache
        let head = ResponseHead(
            selection,
            length: whole.length,
            to: url,
            packed == nil ? status : status.with(detail: source.description)
        )
        return Answer(head: head, body: whole.part(selection.content), source: source)
    }
}

extension StoredSelection.Content {
    fileprivate func isWhole(of length: Int) -> Bool { self == .whole || self == .bytes(0..<length) }
}

extension CacheStatus {
    fileprivate func with(detail: String) -> CacheStatus {
        var status = self
        status.detail = detail
        return status
    }
}

/// A response that is not in the store: a pack's file, which arrived at the time of its pack's release, or a response of
/// a shared tier.
struct PackedVariant: Sendable {
    let head: StoredHead
    let body: Answer.Body
    let source: LoadEvent.Source

    init(shared head: StoredHead, _ body: Data) {
        self.head = head
        self.body = .data(body)
        source = .shared
    }

    init(_ file: FileAnswer, url: String, released: Date) {
        body = Answer.Body(file.body)
        source = .pack
        var fields = file.headerFields
        // The tag is the pack's own, and the origin does not know it: it would answer a conditional request with the
        // full body.
        fields[.eTag] = nil
        head = StoredHead(
            key: RequestKey(method: "GET", url: url),
            status: file.status.code,
            headerFields: fields,
            requestTime: released,
            responseTime: released,
            contentLength: file.length
        )
    }
}
