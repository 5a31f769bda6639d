package import Foundation
package import FoundationNetworking

/// The mark on traffic that an interceptor sends itself, so that it never takes it for an app's request.
///
/// On Linux a property set with `URLProtocol.setProperty` is lost when the request is bridged, and a header
/// field would reach the server. What travels with a `URLRequest` and is never sent is its main document's
/// URL, so the tag is a scheme of its own there. On Darwin the property is the better place.
///
/// The forwarding session does not hold the interceptor's class at all, so a loop needs someone to put it
/// there; with the tag even that ends after one step.
package enum ForwardingTag {
    private static let scheme = "waystation-forwarded:"
    private static let bareTag = URL(string: scheme)
    private static let propertyKey = "waystation.forwarded"

    /// The same request, marked once.
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

    /// The URL of the document that an app gave its request, marked or not.
    package static func document(of request: URLRequest) -> URL? {
        guard let document = request.mainDocumentURL else { return nil }
        guard isTagged(request) else { return document }
        return URL(string: String(document.absoluteString.dropFirst(scheme.count)))
    }
}
