public import HTTPTypes

/// The URLs whose stored responses become invalid because of a response (RFC 9111 §4.4).
///
/// Remove all stored variants of these URLs, or set ``StoredHead/needsValidation`` on them.
public struct Invalidation: Hashable, Sendable {
    /// The URLs: the target URI first, then `Location` and `Content-Location` if they have the same origin.
    ///
    /// Each URL occurs once and has no fragment. The array is empty when nothing is to be invalidated. The target URI
    /// is as the request has it; the others are absolute, in the form of ``CanonicalURL`` and without user information.
    public let urls: [String]

    /// Finds the URLs that the response to a request invalidates.
    ///
    /// Every method that is not known to be safe counts as unsafe; only 2xx and 3xx invalidate.
    ///
    /// - Parameters:
    ///   - request: The request as sent, with scheme, authority and path.
    ///   - response: Its final response.
    public init(after request: HTTPRequest, response: HTTPResponse) {
        guard !Methods.isSafe(request.method.rawValue), (200..<400).contains(response.status.code),
            let target = request.targetURI
        else {
            urls = []
            return
        }
        var urls = [target]
        if let base = CanonicalURL(target) {
            for name in [HTTPField.Name.location, .contentLocation] {
                guard let other = response.headerFields.firstValue(name).flatMap(base.ofSameOrigin), other != base,
                    !urls.contains(other.withoutUserInfo)
                else { continue }
                urls.append(other.withoutUserInfo)
            }
        }
        self.urls = urls
    }
}
