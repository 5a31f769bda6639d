/// Why a response may not be stored.
public enum StoringRefusal: Hashable, Sendable {
    /// The method is not GET, nor a POST whose response says that it stands for a later GET (RFC 9111 §3,
    /// RFC 9110 §9.3.3).
    case method
    /// The target URI is not absolute, so that nothing could be found under it (RFC 9111 §2).
    case target
    /// An interim response, 1xx (RFC 9111 §3).
    case interim
    /// 206: partial content is never stored here, so nothing ever needs combining (RFC 9111 §3.3 and §3.4 allow both
    /// and ask for neither).
    case partialContent
    /// 304: it updates what is stored and is nothing by itself (RFC 9111 §3, §4.3.4).
    case notModified
    /// 412 or 416: the answer to a precondition or a range, which are no part of the key (RFC 9111 §4).
    case conditional
    /// The request's `no-store` (RFC 9111 §5.2.1.5).
    case requestNoStore
    /// The response's `no-store` (RFC 9111 §5.2.2.5).
    case responseNoStore
    /// `must-understand`, and a status code whose rules are not implemented (RFC 9111 §5.2.2.3).
    case notUnderstood
    /// Neither `public`, `private`, `max-age` nor `Expires`, and a status code that is not heuristically cacheable
    /// (RFC 9111 §3).
    case notMarkedStorable
    /// `Vary: *`, which no later request matches (RFC 9111 §4.1).
    case variesOnEverything
    /// More than 16,384 field lines; a recipient may limit them (RFC 9110 §5.4), and `HTTPFields` traps beyond 65,534.
    case tooManyFields
    /// The content did not arrive to its end (RFC 9111 §3.3).
    case incomplete
    /// `Content-Length` is no number, contradicts itself, or stands beside `Transfer-Encoding`: where the content ends is
    /// uncertain (RFC 9112 §6.1, §6.3).
    case uncertainLength
    /// The content came in a content coding that was taken off without a check that the coded bytes were whole.
    case uncheckedCoding
}
