public import HTTPTypes

/// The directives of a request's `Cache-Control` field (RFC 9111 §5.2.1, RFC 5861 §4).
///
/// Lines, repetitions, quotes, large numbers and malformed arguments are read as in ``CacheControl``. `Pragma:
/// no-cache` counts as `no-cache` if the request has no `Cache-Control` (§5.4).
public struct RequestCacheControl: Hashable, Sendable {
    /// How far past its lifetime a response may be.
    public enum MaxStale: Hashable, Sendable {
        /// `max-stale` without a number.
        case any
        /// `max-stale` with a number.
        case upTo(Duration)
    }

    /// `max-age` (§5.2.1.1): the greatest acceptable age.
    public private(set) var maxAge: Duration?
    /// `max-stale` (§5.2.1.2): how stale an acceptable response may be.
    public private(set) var maxStale: MaxStale?
    /// `min-fresh` (§5.2.1.3): how long the response must remain fresh.
    public private(set) var minFresh: Duration?
    /// `no-cache` (§5.2.1.4): no stored response is acceptable without validation.
    public private(set) var noCache = false
    /// `no-store` (§5.2.1.5): neither the request nor the response may be stored.
    public private(set) var noStore = false
    /// `no-transform` (§5.2.1.6): the content must not be transformed.
    public private(set) var noTransform = false
    /// `only-if-cached` (§5.2.1.7): only a stored response is acceptable.
    public private(set) var onlyIfCached = false
    /// `stale-if-error` (RFC 5861 §4): how long past its lifetime a response may be used in place of an error.
    public private(set) var staleIfError: Duration?
    /// All other directives, kept and otherwise ignored (§5.2.3).
    public private(set) var extensions: [CacheDirective] = []

    /// Whether the client restricts even fresh responses, so that it gets a stale one only if it explicitly allows
    /// that.
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
            // A number that cannot be read counts as the strictest restriction.
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
