import HTTPTypes

/// What the fields of a request say about stored responses, read in one pass.
struct RequestDemands {
    private(set) var cacheControl = RequestCacheControl()
    /// `If-Match` or `If-Unmodified-Since`, which are for the origin alone (RFC 9111 §4.3.2).
    private(set) var hasOriginPrecondition = false
    /// `If-None-Match`, `If-Modified-Since` or `Range`: the answer may be other than the whole.
    private(set) var isConditional = false

    init(_ fields: HTTPFields) {
        var hasDirectives = false
        for field in fields {
            switch field.name.canonicalName {
            case "cache-control", "pragma": hasDirectives = true
            case "if-match", "if-unmodified-since": hasOriginPrecondition = true
            case "if-none-match", "if-modified-since", "range": isConditional = true
            default: break
            }
        }
        if hasDirectives { cacheControl = RequestCacheControl(fields) }
    }
}
