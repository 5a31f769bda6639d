public import HTTPTypes

/// The stored responses that become invalid because of a response: those of some URLs (RFC 9111 §4.4), and those of
/// some groups (RFC 9875 §3).
///
/// Remove all stored variants of these URLs, or set ``StoredHead/needsValidation`` on them; do the same with the responses
/// of the groups.
public struct Invalidation: Hashable, Sendable {
    /// The URLs: the target URI first, then `Location` and `Content-Location` if they have the same origin.
    ///
    /// Each URL occurs once and has no fragment. The array is empty when nothing is to be invalidated. The target URI
    /// is as the request has it; the others are absolute, in the form of ``CanonicalURL`` and without user information.
    public let urls: [String]

    /// The groups of the target's origin that `Cache-Group-Invalidation` names; none if the field is malformed.
    public let groups: [ResponseLabel]

    /// Finds what the response to a request invalidates.
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
            (urls, groups) = ([], [])
            return
        }
        var urls = [target]
        var groups: [ResponseLabel] = []
        if let base = CanonicalURL(target) {
            let names = StructuredStrings.parse(response.headerFields.lines(of: LabelFields.invalidated)) ?? []
            groups = names.map { .group($0, origin: base.origin) }
            for name in [HTTPField.Name.location, .contentLocation] {
                guard let other = response.headerFields.firstValue(name).flatMap(base.ofSameOrigin), other != base,
                    !urls.contains(other.withoutUserInfo)
                else { continue }
                urls.append(other.withoutUserInfo)
            }
        }
        (self.urls, self.groups) = (urls, groups)
    }
}
