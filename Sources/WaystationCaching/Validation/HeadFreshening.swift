public import Foundation
public import HTTPTypes

extension StoredChange {
    /// The changes to stored GET responses that the 200 response to a HEAD requires (RFC 9111 §4.3.5).
    ///
    /// Each stored response that could have been selected for the request is updated if all validators of the HEAD
    /// response and its `Content-Length` equal the stored ones; otherwise it needs validation from now on. It also needs
    /// validation if the response does not allow it to be stored any longer. If the request has `no-store`, no stored
    /// response is updated (§5.2.1.5). A response with any other status requires no changes.
    ///
    /// - Parameters:
    ///   - response: The status and the header fields as received.
    ///   - request: The HEAD request.
    ///   - stored: All stored responses of its target URI.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the response was received.
    ///   - rules: The caching rules; `.standard` by default. They say which status codes `must-understand` allows.
    /// - Returns: The changes, none of which affects content.
    public static func changes(
        byHead response: HTTPResponse,
        to request: HTTPRequest,
        stored: [StoredHead],
        requestTime: Date,
        responseTime: Date,
        rules: CachingRules = .standard
    ) -> [StoredChange] {
        guard request.method == .head, response.status.code == 200 else { return [] }
        let forbidsStoring = RequestCacheControl(request.headerFields).noStore
        return stored.indices.filter { stored[$0].mayAnswer(request) }.compactMap { index in
            let head = stored[index]
            guard head.agrees(with: response.headerFields) else { return .update(index: index, head.outdated) }
            var updated = head.updated(
                from: response,
                request: request,
                requestTime: requestTime,
                responseTime: responseTime
            )
            guard updated.mayStayStored(after: response, rules) else { return .update(index: index, head.outdated) }
            guard !forbidsStoring else { return nil }
            // Without a validator, an equal length proves nothing.
            updated.needsValidation = head.needsValidation && !head.hasValidator
            return .update(index: index, updated)
        }
    }
}

extension StoredHead {
    /// Whether the validators and the length in the fields equal those of the stored response.
    fileprivate func agrees(with fields: HTTPFields) -> Bool {
        let own = headerFields
        if let tag = fields[.eTag], tag != own[.eTag] { return false }
        if let modified = fields[.lastModified], modified != own[.lastModified] { return false }
        if let length = fields[.contentLength] {
            guard length == own[.contentLength] ?? contentLength.map(String.init) else { return false }
        }
        return status == 200
    }
}
