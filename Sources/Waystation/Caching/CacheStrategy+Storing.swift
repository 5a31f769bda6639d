package import Foundation
package import HTTPTypes
package import WaystationCaching
package import WaystationTransport

extension CacheStrategy {
    /// Whether and how a response is stored.
    ///
    /// An archive keeps whole representations, 410 responses and redirects, whatever their age. `no-store` is honoured
    /// in every case, because it protects privacy. `Vary: *` matches no later request (RFC 9111 §4.1).
    ///
    /// - Parameters:
    ///   - head: The head as Foundation delivered it.
    ///   - request: The request, without the conditions that the cache added.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the head arrived.
    ///   - rules: The choices that RFC 9111 leaves to a cache.
    /// - Returns: The head to store, or the reason to store nothing.
    package func storing(
        _ head: ResponseHead,
        to request: HTTPRequest,
        requestTime: Date,
        responseTime: Date,
        rules: CachingRules
    ) -> StoringDecision {
        let response = HTTPResponse(storing: head)
        let decision = StoringDecision(
            of: response,
            to: request,
            requestTime: requestTime,
            responseTime: responseTime,
            rules: rules
        )
        // A response that sets a cookie is probably made for the user who gets the cookie.
        if rules.servesSeveralUsers, !decision.isPrivate, head.value(forHTTPHeaderField: "Set-Cookie") != nil,
            !CacheControl(response.headerFields).isPublic
        {
            return .refuse(.personal)
        }
        guard !obeysHTTP else { return decision }
        guard Self.archivedStatuses.contains(head.statusCode) else { return .refuse(.notMarkedStorable) }
        guard case .refuse(.notMarkedStorable) = decision else { return decision }
        let vary = VaryKey(response.headerFields, request: request.headerFields)
        guard !vary.matchesNothing else { return .refuse(.variesOnEverything) }
        return .store(
            StoredHead(
                key: RequestKey(method: request.method.rawValue, url: request.url?.absoluteString ?? ""),
                status: head.statusCode,
                headerFields: response.headerFields,
                vary: vary,
                requestTime: requestTime,
                responseTime: responseTime
            )
        )
    }

    private static let archivedStatuses: Set<Int> = [200, 203, 204, 301, 302, 303, 307, 308, 410]
}

extension StoringDecision {
    /// Whether the response was refused to protect privacy.
    package var isPrivate: Bool {
        switch self {
        case .refuse(.requestNoStore), .refuse(.responseNoStore), .refuse(.personal): true
        case .refuse, .store: false
        }
    }
}
