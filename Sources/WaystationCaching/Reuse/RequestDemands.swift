import HTTPTypes

/// The request fields that concern stored responses, read in one pass.
struct RequestDemands {
    private(set) var cacheControl = RequestCacheControl()
    /// `If-Match` or `If-Unmodified-Since`, which only the origin evaluates (RFC 9111 §4.3.2).
    private(set) var hasOriginPrecondition = false
    /// `If-None-Match`, `If-Modified-Since` or `Range`: the answer may differ from the whole response.
    private(set) var isConditional = false

    init(_ fields: HTTPFields) {
        var hasDirectives = false
        for field in fields {
            let name = field.name.canonicalName
            // The length alone rules out most other fields.
            switch name.utf8.count {
            case 5 where name == "range": isConditional = true
            case 6 where name == "pragma": hasDirectives = true
            case 8 where name == "if-match": hasOriginPrecondition = true
            case 13 where name == "cache-control": hasDirectives = true
            case 13 where name == "if-none-match": isConditional = true
            case 17 where name == "if-modified-since": isConditional = true
            case 19 where name == "if-unmodified-since": hasOriginPrecondition = true
            default: break
            }
        }
        if hasDirectives { cacheControl = RequestCacheControl(fields) }
    }
}
