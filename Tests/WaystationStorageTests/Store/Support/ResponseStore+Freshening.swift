import Foundation
import HTTPTypes
import WaystationHTTP
import WaystationStorage

extension ResponseStore {
    /// Freshens a stored response by a 304 with these fields.
    func freshen(
        _ response: StoredResponse,
        headerFields: HTTPFields,
        requestTime: Date,
        responseTime: Date,
        completion: @escaping @Sendable (Result<Bool, StoreError>) -> Void = { _ in }
    ) {
        let head = StoredHead(
            key: response.head.key,
            status: response.head.status,
            headerFields: headerFields,
            vary: response.head.vary,
            requestTime: requestTime,
            responseTime: responseTime
        )
        freshen(response, with: head, completion: completion)
    }
}
