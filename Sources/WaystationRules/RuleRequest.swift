/// The parts of a request that rules can check.
public struct RuleRequest: Sendable {
    /// The request's URL.
    public let url: CanonicalURL

    /// The method of the request.
    ///
    /// `get`, `head`, `post`, `put`, `delete` and `options` are upper-cased as in Fetch; other methods keep their case,
    /// since methods are case-sensitive (RFC 9110 §9.1).
    public let method: String

    /// Returns a header field of the request by its name, for predicates; `nil` when the fields are not known.
    public let field: (@Sendable (String) -> String?)?

    /// Describes a request.
    ///
    /// `method` defaults to `GET`, `field` to `nil`.
    public init(url: CanonicalURL, method: String = "GET", field: (@Sendable (String) -> String?)? = nil) {
        self.url = url
        self.method = Self.normalizedMethod(method)
        self.field = field
    }

    // https://fetch.spec.whatwg.org/#concept-method-normalize
    static func normalizedMethod(_ method: String) -> String {
        guard method.utf8.contains(where: { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }) else { return method }
        let upper = method.uppercased()
        return ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"].contains(upper) ? upper : method
    }
}
