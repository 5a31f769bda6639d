public import HTTPTypes

/// The directives of a request's `Cache-Control` field (RFC 9111 §5.2.1, RFC 5861 §4).
///
/// Lines, repetitions, quotes, great numbers and malformed arguments are read as in ``CacheControl``. `Pragma: no-cache`
/// counts as `no-cache` when there is no `Cache-Control` at all (§5.4).
public struct RequestCacheControl: Hashable, Sendable {
    /// How far past its lifetime a response is welcome.
    public enum MaxStale: Hashable, Sendable {
        /// `max-stale` without a number.
        case any
        /// `max-stale` with one.
        case upTo(Duration)
    }

    /// `max-age` (§5.2.1.1): the greatest welcome age.
    public private(set) var maxAge: Duration?
    /// `max-stale` (§5.2.1.2): how stale a response is welcome.
    public private(set) var maxStale: MaxStale?
    /// `min-fresh` (§5.2.1.3): how long the response must stay fresh.
    public private(set) var minFresh: Duration?
    /// `no-cache` (§5.2.1.4): nothing stored is welcome without validation.
    public private(set) var noCache = false
    /// `no-store` (§5.2.1.5): neither the request nor the response may be stored.
    public private(set) var noStore = false
    /// `no-transform` (§5.2.1.6): the content is not to be transformed.
    public private(set) var noTransform = false
    /// `only-if-cached` (§5.2.1.7): nothing but a stored response is welcome.
    public private(set) var onlyIfCached = false
    /// `stale-if-error` (RFC 5861 §4): how long past its lifetime a response may stand in for an error.
    public private(set) var staleIfError: Duration?
    /// The directives that are none of these, kept and otherwise ignored (§5.2.3).
    public private(set) var extensions: [CacheDirective] = []

    /// Whether the client asks for something newer than fresh, so that a stale response needs its explicit consent.
    public var wantsFresh: Bool { noCache || maxAge != nil || minFresh != nil }

    /// A request without directives.
    init() {}

    /// Reads the directives of a request.
    public init(_ fields: HTTPFields) {
        guard fields.contains(.cacheControl) else {
            guard let pragma = HTTPField.Name("Pragma"), fields.contains(pragma) else { return }
            noCache = CacheDirective.all(in: fields, of: pragma).contains { $0.name == "no-cache" }
            return
        }
        for directive in CacheDirective.all(in: fields) { add(directive) }
    }

    private mutating func add(_ directive: CacheDirective) {
        switch directive.name {
        case "max-age": maxAge = maxAge ?? directive.limit
        case "max-stale": maxStale = maxStale ?? directive.staleness
        case "min-fresh":
            // What cannot be read restricts as much as it could.
            minFresh = minFresh ?? directive.allowance ?? Duration(wholeSeconds: DeltaSeconds.greatest)
        case "no-cache": noCache = true
        case "no-store": noStore = true
        case "no-transform": noTransform = true
        case "only-if-cached": onlyIfCached = true
        case "stale-if-error": staleIfError = staleIfError ?? directive.allowance
        default: extensions.append(directive)
        }
    }
}

extension CacheDirective {
    fileprivate var staleness: RequestCacheControl.MaxStale? {
        argument == nil ? .any : allowance.map(RequestCacheControl.MaxStale.upTo)
    }
}
