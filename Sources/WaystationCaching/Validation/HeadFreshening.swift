public import Foundation
public import HTTPTypes

extension StoredChange {
    /// What the 200 response to a HEAD says about stored GET responses (RFC 9111 §4.3.5).
    ///
    /// Each that could have been chosen for the request is updated when all validators that the response has are its
    /// own, and its `Content-Length`; otherwise it needs validation from now on. No other status says anything.
    ///
    /// - Parameters:
    ///   - response: Status and fields as received.
    ///   - request: The HEAD.
    ///   - stored: All that is stored for its target URI.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the response was received.
    /// - Returns: The changes, none of which touches content.
    public static func changes(
        byHead response: HTTPResponse,
        to request: HTTPRequest,
        stored: [StoredExchange],
        requestTime: Date,
        responseTime: Date
    ) -> [StoredChange] {
        guard request.method == .head, response.status.code == 200 else { return [] }
        return stored.indices.filter { stored[$0].mayAnswer(request) }.map { index in
            let exchange = stored[index]
            guard exchange.agrees(with: response.headerFields) else {
                var outdated = exchange
                outdated.needsValidation = true
                return .update(index: index, outdated)
            }
            var updated = exchange.updated(
                from: response,
                request: request,
                requestTime: requestTime,
                responseTime: responseTime
            )
            // Without a validator an equal length proves nothing.
            updated.needsValidation = exchange.needsValidation && !exchange.hasValidator
            return .update(index: index, updated)
        }
    }
}

extension StoredExchange {
    /// Whether the validators and the length that the fields have are those of the stored response.
    fileprivate func agrees(with fields: HTTPFields) -> Bool {
        let own = response.headerFields
        if let tag = fields[.eTag], tag != own[.eTag] { return false }
        if let modified = fields[.lastModified], modified != own[.lastModified] { return false }
        if let length = fields[.contentLength] {
            guard length == own[.contentLength] ?? contentLength.map(String.init) else { return false }
        }
        return response.status.code == 200
    }
}
