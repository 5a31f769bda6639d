/// Why a response may not be stored.
public enum StoringRefusal: Hashable, Sendable {
    /// The method is not GET, nor a POST whose response says that it may answer a later GET (RFC 9111 §3, RFC 9110
    /// §9.3.3).
    case method
    /// The target URI is not absolute, so that the response could never be found (RFC 9111 §2).
    case target
    /// The response is an interim response, 1xx (RFC 9111 §3).
    case interim
    /// 206: this cache never stores partial content, so it never needs to combine responses (RFC 9111 §3.3 and §3.4
    /// allow both and require neither).
    case partialContent
    /// 304: it updates a stored response and is not a complete response itself (RFC 9111 §3, §4.3.4).
    case notModified
    /// 412 or 416: the answer to a precondition or a range, which are not part of the cache key (RFC 9111 §4).
    case conditional
    /// 428, 429, 431 or 511: a cache must not store responses with these status codes (RFC 6585 §3 to §6).
    case uncacheableStatus
    /// The request has `no-store` (RFC 9111 §5.2.1.5).
    case requestNoStore
    /// The response has `no-store` (RFC 9111 §5.2.2.5).
    case responseNoStore
    /// The response is meant for one user, and the cache answers several (RFC 9111 §5.2.2.7).
    case personal
    /// The response has `must-understand`, and its status code's rules are not implemented (RFC 9111 §5.2.2.3).
    case notUnderstood
    /// The response has none of `public`, `private`, `max-age` and `Expires`, and its status code is not heuristically
    /// cacheable (RFC 9111 §3).
    case notMarkedStorable
    /// The response has `Vary: *`, which no later request matches (RFC 9111 §4.1).
    case variesOnEverything
    /// The response has more than 16,384 field lines; a recipient may limit them (RFC 9110 §5.4), and `HTTPFields`
    /// traps beyond 65,534.
    case tooManyFields
    /// The content did not arrive completely (RFC 9111 §3.3).
    case incomplete
    /// `Content-Length` is not a number, contradicts itself, or occurs together with `Transfer-Encoding`: where the
    /// content ends is uncertain (RFC 9112 §6.1, §6.3). So it is if no field states the length, and the client cannot tell
    /// the end of such content from a cut.
    case uncertainLength
    /// The content had a content coding that was decoded without a check that the encoded bytes were complete.
    case uncheckedCoding
}
