/// What rules may know of a request.
public struct RuleRequest: Sendable {
    /// The URL asked for.
    public let url: CanonicalURL

    /// The method of the request.
    ///
    /// `get`, `head`, `post`, `put`, `delete` and `options` are upper-cased as Fetch does it; others keep
    /// their case, which counts (RFC 9110 §9.1).
    public let method: String

    /// Looks up a header field of the request by its name, for predicates; `nil` when there is nothing to look up.
    public let field: (@Sendable (String) -> String?)?

    /// Describes a request.
    ///
    /// `method` defaults to `GET`, `field` to none.
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
