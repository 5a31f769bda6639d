public import WaystationFoundation
import WaystationHTTP

/// A request in the form that rules and the cache use.
///
/// Foundation on Linux never calls `canonicalRequest(for:)`, so the library canonicalises requests itself. Rules match
/// the canonical URL, the cache stores under it (without user information), and ``OriginExchange`` sends it; only a task
/// that is handed back to Foundation's own loader is sent as the app wrote it.
struct CanonicalRequest: Sendable {
    let url: CanonicalURL
    let method: String

    init?(_ request: URLRequest) {
        guard let text = request.url?.absoluteString, let url = CanonicalURL(text) else { return nil }
        self.url = url
        method = request.httpMethod ?? "GET"
    }

    /// Whether the method is safe (RFC 9110 §9.2.1): its response invalidates nothing.
    var isSafe: Bool { Methods.isSafe(method) }

    /// The URL under which the responses of a URL are stored, in its unchanged text when it has no canonical form.
    ///
    /// User information (`https://name:password@shop.example/`) is a credential. Like `Authorization`, it becomes part of
    /// the name of a partition, so that it is neither on disk nor in events, and so that invalidations and removals of a
    /// URL or host concern all its responses.
    static func storedURL(of url: URL) -> String {
        CanonicalURL(url.absoluteString)?.withoutUserInfo ?? url.absoluteString
    }
}

/// The mark on requests that an interceptor sends itself, so that it never takes them for requests of the app.
///
/// On Linux a property set with `URLProtocol.setProperty` is lost when the request is bridged, and a header field would
/// reach the server. The URL of a request's main document stays with the `URLRequest` and is never sent, so the tag is
/// a scheme of its own in that URL. On Darwin the property is the better place.
///
/// The forwarding session does not contain the interceptor's class, so a loop is possible only if other code adds it
/// there. Because of the tag, even such a loop ends after one step.
package enum ForwardingTag {
    private static let scheme = "waystation-forwarded:"
    private static let bareTag = URL(string: scheme)
    private static let propertyKey = "waystation.forwarded"

    /// The same request, marked exactly once.
    package static func tagging(_ request: URLRequest) -> URLRequest {
        guard !isTagged(request) else { return request }
        var tagged = request
        #if canImport(Darwin)
        if let mutable = (request as NSURLRequest).mutableCopy() as? NSMutableURLRequest {
            URLProtocol.setProperty(true, forKey: propertyKey, in: mutable)
            tagged = mutable as URLRequest
        }
        #else
        tagged.mainDocumentURL = request.mainDocumentURL.map { URL(string: scheme + $0.absoluteString) } ?? bareTag
        #endif
        return tagged
    }

    /// Whether an interceptor sent this request.
    package static func isTagged(_ request: URLRequest) -> Bool {
        #if canImport(Darwin)
        URLProtocol.property(forKey: propertyKey, in: request) != nil
        #else
        request.mainDocumentURL?.absoluteString.utf8.starts(with: scheme.utf8) ?? false
        #endif
    }

    /// The main document's URL that an app gave its request, whether the request is marked or not.
    package static func document(of request: URLRequest) -> URL? {
        guard let document = request.mainDocumentURL else { return nil }
        guard isTagged(request) else { return document }
        return URL(string: String(document.absoluteString.dropFirst(scheme.count)))
    }
}

/// The result of a provider: the token, and its expiry.
public struct LoginToken: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The cookie's value.
    public var value: String
    /// When the token expires; with nil, ``LoginCookie/lifetime`` applies.
    public var expires: Date?

    /// Makes a token.
    public init(_ value: String, expires: Date? = nil) {
        self.value = value
        self.expires = expires
    }

    /// Makes a token from a literal.
    public init(stringLiteral value: String) { self.init(value) }

    /// A fixed text without the value, so that no log contains the token.
    public var description: String { "a token" }
}
