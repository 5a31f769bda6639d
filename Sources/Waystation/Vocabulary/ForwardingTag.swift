package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

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
