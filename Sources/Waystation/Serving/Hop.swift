import WaystationFoundation

/// One request of a load: the first one, or one after a redirect, with credentials, or with a renewed token.
struct Hop: Sendable {
    var request: URLRequest
    /// The request in canonical form, and the rule that decides; nil when no rule does, and when the URL is not absolute.
    ///
    /// Without it the request is only sent to the network.
    private(set) var match: RuleMatch?
    /// The index of the rule in events.
    private(set) var rule: Int?
    /// Whether the rule matches this request, and not one before it.
    private(set) var isOwnMatch = true
    /// Whether the rules were asked about this request.
    private(set) var isDecided: Bool
    /// The strategy of the cache in place of that of the rule; nil for the rule's own.
    var strategy: CacheStrategy?
    /// The login under which the request got its cookies.
    var ticket: LoginTicket?
    /// The number of the hop within its load.
    private(set) var number = 0
    /// The token that was refused and is renewed before the request is sent again; nil for other requests, and when it
    /// was renewed.
    var refusedToken: String?
    /// Whether stored responses are ignored, because one of them may be the refusal of the token that was renewed.
    private(set) var ignoresStored = false
    /// Whether the request differs from the app's own, which is the one that Foundation's own loader would send.
    var isChanged = false

    /// Makes the first request of a load.
    init(_ request: URLRequest, _ match: RuleMatch? = nil, rule: Int? = nil) {
        self.request = request
        self.match = match
        self.rule = match?.index ?? rule
        isDecided = match != nil
    }

    /// The condition of the request's own rule under which it needs a login.
    var requirement: LoginRequirement? { isOwnMatch ? match?.rule.requirement : nil }

    /// Takes the first rule that matches the request.
    ///
    /// If no rule matches, the rule of the hop before still applies, so an archive keeps the page behind a redirect.
    mutating func decide(_ found: RuleMatch?) {
        isDecided = true
        guard let found else { return }
        match = found
        rule = found.index
        isOwnMatch = true
    }

    /// The hop that follows this one with another request, about which the rules are asked anew.
    ///
    /// - Parameters:
    ///   - request: The next request.
    ///   - token: The token that was refused, if it is renewed first.
    /// - Returns: The next hop.
    func followed(by request: URLRequest, withoutToken token: String? = nil) -> Hop {
        var next = self
        next.request = request
        next.match = match?.applied(to: request)
        next.isOwnMatch = false
        next.isDecided = false
        next.ticket = nil
        next.number += 1
        next.isChanged = true
        next.refusedToken = token
        next.ignoresStored = token != nil
        return next
    }

    /// Whether Foundation's own loader can load the request as the app wants it.
    ///
    /// It would send the app's own request, and would end a request whose interval is below a second at once.
    var canBeHandedBack: Bool {
        number == 0 && !isChanged && (!request.hasTimeoutBelowOneSecond || request.httpBodyStream != nil)
    }
}

/// A request in canonical form, with the rule that takes it.
///
/// A class, because a hop is copied from station to station.
final class RuleMatch: Sendable {
    let canonical: CanonicalRequest
    let rule: CompiledRule
    /// The index of the rule.
    let index: Int

    init(_ canonical: CanonicalRequest, _ rule: CompiledRule, at index: Int) {
        self.canonical = canonical
        self.rule = rule
        self.index = index
    }

    /// The same rule for another request, which it does not match; nil when the request's URL is not absolute.
    fileprivate func applied(to request: URLRequest) -> RuleMatch? {
        CanonicalRequest(request).map { RuleMatch($0, rule, at: index) }
    }
}

/// A rule that is ready for requests: its sources are open.
final class CompiledRule: Sendable {
    /// The sources in the order in which they are asked.
    let sources: [any AnswerSource]
    /// The requirement that says which requests need a login; nil when none does.
    let requirement: LoginRequirement?
    /// Whether requests are refused.
    let isBlock: Bool
    /// Whether requests that the other sources cannot answer continue to the network.
    let reachesNetwork: Bool
    /// Whether they continue to a transport of the rule's own.
    let isCarried: Bool
    /// The strategy of the cache among the sources; nil without a cache, and nil if it also has newer files of a pack.
    let strategy: CacheStrategy?
    /// The tags of the responses that the cache stores.
    let tags: [String]
    /// The keys of these responses.
    let key: CacheKey

    init(_ sources: [any AnswerSource], login requirement: LoginRequirement?) {
        self.sources = sources
        self.requirement = requirement
        isBlock = sources.first is BlockingSource
        isCarried = sources.last is TransportSource
        let overlay = sources.lazy.compactMap { ($0 as? OverlaidPackSource)?.strategy }.first
        let source = sources.last as? CacheSource
        let cache = source?.strategy
        reachesNetwork = sources.last is NetworkSource || [overlay, cache].contains { $0 != nil && $0 != .cacheOnly }
        strategy = overlay == nil ? cache : nil
        tags = source?.tags ?? []
        key = source?.key ?? .url
    }
}

/// The decision of a station or a source about a hop.
enum Verdict: Sendable {
    /// The next source, or the next station, decides.
    case declined
    /// The request is answered.
    case answer(Answer)
    /// The network is asked on behalf of the cache.
    case fetch(CacheFinding, CacheDecision.Fetch)
    /// The request is sent to the network, without the cache.
    case send
    /// The request is sent through the transport of its rule; a body that is a stream is read first if there is a spool.
    case carry(any Transport, spoolingInto: BodySpool?)
    /// Foundation's own loader runs the request, on the same task.
    case handBack
    /// The body of the request is a stream, which is read first; then the request is sent to the network.
    case spool(BodySpool)
    /// The request is passed to the app's handler of external links.
    case open(ExternalLinks)
    /// The load fails.
    case fail(URLError)
    /// Data must be read first, away from the loading queue.
    case lookUp(LookUp)
    /// The load must wait for something that may take long, such as a login.
    ///
    /// A load that waits can be cancelled.
    case wait(Wait)
}

/// A look-up that ends in the verdict about the same hop.
struct LookUp: Sendable {
    /// Makes the look-up on the calling thread if it need not wait for a disk; otherwise returns nil.
    ///
    /// If it may not read, it only finds out that nothing is stored.
    var inMemory: @Sendable (_ mayRead: Bool) -> Verdict? = { _ in nil }
    /// Whether the look-up is code of the app, which may take long: a load begins it as late as it can, and cancels it.
    var isForeign = false
    /// Starts the look-up; the completion is called once, on any thread.
    ///
    /// The returned closure cancels the look-up, if it can be cancelled; the completion is called nevertheless.
    let run: @Sendable (_ completion: @escaping @Sendable (Verdict) -> Void) -> @Sendable () -> Void

    /// The same look-up with another verdict.
    func map(_ change: @escaping @Sendable (Verdict) -> Verdict) -> LookUp {
        LookUp(
            inMemory: { [inMemory] in inMemory($0).map(change) },
            isForeign: isForeign,
            run: { [run] completion in run { completion(change($0)) } }
        )
    }
}

/// A wait, after which the hop may have changed.
struct Wait: Sendable {
    /// Begins to wait; the completion is called once, on any thread.
    ///
    /// The returned closure ends the wait early.
    let begin: @Sendable (_ completion: @escaping @Sendable (Visit) -> Void) -> @Sendable () -> Void
}

/// A hop, and the verdict of the stations about it.
struct Visit: Sendable {
    let hop: Hop
    let verdict: Verdict

    init(_ hop: Hop, _ verdict: Verdict) {
        self.hop = hop
        self.verdict = verdict
    }
}
