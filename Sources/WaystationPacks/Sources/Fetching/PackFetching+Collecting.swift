package import Foundation
package import HTTPTypes

/// A response that has arrived whole, with a status of success.
package struct CollectedResponse: Sendable {
    package let fields: HTTPFields
    package let url: URL
    package let body: Data
    package let retryAfter: Duration?
}

extension PackFetching {
    /// Fetches a small body whole.
    ///
    /// - Throws: ``PackError``; a status other than 200 is one.
    package func collect(_ request: FetchRequest, now: Date) async throws -> CollectedResponse {
        let response = try await fetch(request)
        let retryAfter = RetryAfter.delay(in: response.fields, now: now)
        guard response.status == 200 else {
            throw PackError.refusal(response.status, of: request.url, retryAfter: retryAfter)
        }
        var body = Data()
        for try await part in response.body {
            // Also here, since fetchers are not all our own.
            guard part.count <= request.maximumBodySize - body.count else {
                throw PackError.tooLarge(request.url, limit: request.maximumBodySize)
            }
            body.append(part)
        }
        guard !Task.isCancelled else { throw PackError.cancelled(request.url) }
        return CollectedResponse(fields: response.fields, url: response.url, body: body, retryAfter: retryAfter)
    }
}
