public import WaystationStorage

/// A request body that is sent in a header field, for pages in a web view that loses the bodies of their requests.
///
/// ```swift
/// $0.headerBody = HeaderBody()  // x-weimai-h5body: %7B%22a%22%3A1%7D
/// ```
/// When a rule takes a request with this field, the decoded value of the field becomes the request's body. The field
/// itself is removed before the request is used for anything else: no server, cache key, recording or redirect contains
/// it.
///
/// **Form.** The value of ``name`` is the body in ``encoding``. If the header has a field `<name>-encoding`, its value
/// is the encoding instead: `percent` or `base64`. A long body is split over `<name>-1`, `<name>-2`, …: their values
/// are joined in the order of their numbers, which have no gap and no leading zero. White space around a value is
/// ignored (RFC 9110 §5.5). An empty value is an empty body.
///
/// **What is sent.** The decoded bytes, with the request's own `Content-Type`. If the request has no `Content-Type`,
/// this form adds none, so Foundation adds the one that it adds to any body. `Content-Length` and `Transfer-Encoding`
/// of the app are replaced by the correct values. If the request already has a body that is not empty, or a stream,
/// that body is sent instead.
///
/// **Errors.** A damaged encoding, a gap in the numbers, and more than ``limit`` bytes end the load before anything is
/// sent, with `URLError.cannotDecodeContentData` or `.dataLengthExceedsMaximum`. Its underlying error is a
/// ``WaystationError`` that names the field and the position. A body for GET or HEAD, which have none (RFC 9110
/// §9.3.1), is an error too: Foundation also refuses them.
///
/// Uploads and downloads are left to Foundation unchanged, with all their header fields.
public struct HeaderBody: Sendable, Hashable {
    /// How a field's value encodes the bytes of a body.
    public struct Encoding: Sendable, Hashable, CustomStringConvertible {
        /// The name of the encoding, as the field `<name>-encoding` contains it.
        public let description: String

        /// Percent-encoding (RFC 3986 §2.1): `%` and two hexadecimal digits are a byte; every other visible ASCII
        /// character stands for itself.
        ///
        /// `+` is a plus sign, as `encodeURIComponent` treats it.
        public static let percent = Encoding(description: "percent")
        /// Base64 (RFC 4648 §4) or base64url (§5), with or without padding.
        public static let base64 = Encoding(description: "base64")
    }

    /// The name of the field; `x-weimai-h5body` by default.
    public var name: String
    /// The encoding of a request that does not name one; `percent` by default.
    public var encoding: Encoding
    /// The maximum size of a decoded body; 1 MiB by default.
    public var limit: ByteCount

    /// Makes the form in which pages send their bodies.
    public init(
        name: String = "x-weimai-h5body",
        encoding: Encoding = .percent,
        limit: ByteCount = .mebibytes(1)
    ) {
        self.name = name
        self.encoding = encoding
        self.limit = limit
    }
}
