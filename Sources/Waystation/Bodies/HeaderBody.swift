public import WaystationStorage

/// A request's body that travels in its header, as pages send it whose web view loses the bodies of their requests.
///
/// ```swift
/// $0.headerBody = HeaderBody()  // x-weimai-h5body: %7B%22a%22%3A1%7D
/// ```
/// A request that a rule takes and that has the field gets what it holds as its body. The field itself is removed
/// before anything else sees the request: it reaches no server, no cache key, no recording and no redirect.
///
/// **Form.** The value of ``name`` is the body in ``encoding``. Where the header has a field `<name>-encoding`, that
/// field says which instead: `percent` or `base64`. A long body stands in `<name>-1`, `<name>-2`, …: their values in the
/// order of their numbers, which have no gap and no leading zero, are one text. White space around a value is no part
/// of it (RFC 9110 §5.5). An empty value is an empty body.
///
/// **What is sent.** The bytes as they were encoded, with the request's own `Content-Type`; a request without one gets
/// none from here, so that Foundation adds what it adds to any body. `Content-Length` and `Transfer-Encoding` of the app
/// are replaced by what is true. A body that is there already wins: one that is not empty, or a stream.
///
/// **Errors.** A damaged encoding, a gap, and more than ``limit`` bytes end the load before anything is sent, with
/// `URLError.cannotDecodeContentData` or `.dataLengthExceedsMaximum`, over a ``WaystationError`` that names field and
/// place. So does a body for GET or HEAD, which have none (RFC 9110 §9.3.1): Foundation refuses them alike.
///
/// Uploads and downloads are left to Foundation as they are, with their header.
public struct HeaderBody: Sendable, Hashable {
    /// How the bytes of a body are written in a field's value.
    public struct Encoding: Sendable, Hashable, CustomStringConvertible {
        /// The name, as it stands in the field `<name>-encoding`.
        public let description: String

        /// Percent-encoding (RFC 3986 §2.1): `%` and two hexadecimal digits are a byte, any other visible character of
        /// ASCII is itself.
        ///
        /// `+` is a plus, as after `encodeURIComponent`.
        public static let percent = Encoding(description: "percent")
        /// Base64 (RFC 4648 §4) or base64url (§5), with padding or without.
        public static let base64 = Encoding(description: "base64")
    }

    /// The name of the field; `x-weimai-h5body` by default.
    public var name: String
    /// The encoding of a request that does not say which; `percent` by default.
    public var encoding: Encoding
    /// The most that a decoded body may have; 1 MiB by default.
    public var limit: ByteCount

    /// The form in which pages send their bodies.
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
