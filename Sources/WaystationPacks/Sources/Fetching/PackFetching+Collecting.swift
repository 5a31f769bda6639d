package import Foundation
package import HTTPTypes
import WaystationFields

/// A complete response with a status of success.
package struct CollectedResponse: Sendable {
    package let fields: HTTPFields
    package let url: URL
    package let body: Data
    package let retryAfter: Duration?
}

extension PackFetching {
    /// Fetches a complete, small body.
    ///
    /// - Throws: ``PackError``, also for a status other than 200.
    package func collect(_ request: FetchRequest, now: Date) async throws -> CollectedResponse {
        let response = try await fetch(request)
        let retryAfter = RetryAfter.delay(in: response.fields, now: now)
        guard response.status == 200 else {
            throw PackError.refusal(response.status, of: request.url, retryAfter: retryAfter)
        }
        var body = Data()
        for try await part in response.body {
            // The length is checked here too, since an app's own fetcher may not check it.
            guard part.count <= request.maximumBodySize - body.count else {
                throw PackError.tooLarge(request.url, limit: request.maximumBodySize)
            }
            body.append(part)
        }
        guard !Task.isCancelled else { throw PackError.cancelled(request.url) }
        return CollectedResponse(fields: response.fields, url: response.url, body: body, retryAfter: retryAfter)
    }
}
