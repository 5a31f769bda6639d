public import HTTPTypes

/// The directives of a response's `Cache-Control` field (RFC 9111 §5.2.2, RFC 5861, RFC 8246).
///
/// Several lines count as one list. Where a directive occurs more than once the first one with a number counts
/// (RFC 9111 §4.2.1). Numbers may be quoted; beyond 2^31 they count as 2^31. A directive that restricts counts even
/// when its argument is malformed, one that permits counts only when it is well formed; so `max-age=abc` is an age of
/// zero, and `stale-if-error=abc` is nothing.
///
/// `CDN-Cache-Control` and other targeted fields (RFC 9213) are for caches whose target list names them. A private
/// cache is on none of those lists, so no field but `Cache-Control` is read.
public struct CacheControl: Hashable, Sendable {
    /// How much of a response a directive with optional field names concerns.
    public enum Scope: Hashable, Sendable {
        /// The directive is absent.
        case nothing
        /// The qualified form: these fields.
        case fields([HTTPField.Name])
        /// The unqualified form: all of it.
        case response
    }

    /// `max-age` (§5.2.2.1): how old the response may become and be fresh.
    public private(set) var maxAge: Duration?
    /// `s-maxage` (§5.2.2.10): for shared caches; a private one ignores it.
    public private(set) var sharedMaxAge: Duration?
    /// `no-cache` (§5.2.2.4): what may not be used again without validation.
    public private(set) var noCache: Scope = .nothing
    /// `private` (§5.2.2.7): what shared caches may not store.
    public private(set) var `private`: Scope = .nothing
    /// `no-store` (§5.2.2.5): nothing may be stored.
    public private(set) var noStore = false
    /// `public` (§5.2.2.9): the response may be stored whatever its status code.
    public private(set) var isPublic = false
    /// `must-revalidate` (§5.2.2.2): once stale, never used again without validation.
    public private(set) var mustRevalidate = false
    /// `proxy-revalidate` (§5.2.2.8): the same for shared caches; a private one ignores it.
    public private(set) var proxyRevalidate = false
    /// `must-understand` (§5.2.2.3): store only when the status code is understood, and then despite `no-store`.
    public private(set) var mustUnderstand = false
    /// `no-transform` (§5.2.2.6): the content is not to be transformed.
    public private(set) var noTransform = false
    /// `immutable` (RFC 8246): the content does not change while the response is fresh.
    public private(set) var immutable = false
    /// `stale-while-revalidate` (RFC 5861 §3): how long past its lifetime the response may be used while it is renewed.
    public private(set) var staleWhileRevalidate: Duration?
    /// `stale-if-error` (RFC 5861 §4): how long past its lifetime the response may stand in for an error.
    public private(set) var staleIfError: Duration?
    /// The directives that are none of these, kept and otherwise ignored (§5.2.3).
    public private(set) var extensions: [CacheDirective] = []

    /// Reads the directives of a response.
    public init(_ fields: HTTPFields) {
        for directive in CacheDirective.all(in: fields) { add(directive) }
    }

    private mutating func add(_ directive: CacheDirective) {
        let isPlain = directive.argument == nil
        switch directive.name {
        case "max-age": maxAge = maxAge ?? directive.limit
        case "s-maxage": sharedMaxAge = sharedMaxAge ?? directive.limit
        case "no-cache": noCache.widen(by: directive)
        case "private": `private`.widen(by: directive)
        case "no-store": noStore = true
        case "must-revalidate": mustRevalidate = true
        case "proxy-revalidate": proxyRevalidate = true
        case "no-transform": noTransform = true
        case "public": isPublic = isPublic || isPlain
        case "must-understand": mustUnderstand = mustUnderstand || isPlain
        case "immutable": immutable = immutable || isPlain
        case "stale-while-revalidate": staleWhileRevalidate = staleWhileRevalidate ?? directive.allowance
        case "stale-if-error": staleIfError = staleIfError ?? directive.allowance
        default: extensions.append(directive)
        }
    }
}

extension CacheControl.Scope {
    /// The fields of the qualified form.
    var fieldNames: [HTTPField.Name] {
        if case .fields(let names) = self { names } else { [] }
    }

    /// Adds a directive; the unqualified form goes before the qualified one, and a list that cannot be read is the whole.
    fileprivate mutating func widen(by directive: CacheDirective) {
        guard self != .response, let names = directive.fieldNames else {
            self = .response
            return
        }
        self = .fields(fieldNames + names)
    }
}

extension CacheDirective {
    /// The seconds of a directive that restricts; zero when they cannot be read.
    var limit: Duration { seconds.map(Duration.init(wholeSeconds:)) ?? .zero }

    /// The seconds of a directive that permits; nil when they cannot be read.
    var allowance: Duration? { seconds.map(Duration.init(wholeSeconds:)) }
}
