import Foundation
import HTTPTypes
import WaystationStorage

/// The examples in the comments of `WaystationStorage`, compiled and not run.
enum StorageExamples {
    static func limits() -> StoreLimits {
        var limits = StoreLimits()
        // snippet: comment-byte-count
        limits.maximumSize = .mebibytes(200)
        // end snippet
        return limits
    }

    static func scope(_ store: ResponseStore) async throws {
        // snippet: comment-response-scope
        try await store.remove(.host("shop.example", partition: ""))
        // end snippet
    }

    static func store(
        _ caches: URL,
        _ key: RequestKey,
        _ fields: HTTPFields,
        _ body: Data,
        _ sent: Date,
        _ received: Date
    ) async throws -> [StoredResponse]? {
        // snippet: comment-response-store
        let limits = StoreLimits(maximumSize: .mebibytes(200))
        let store = ResponseStore(directory: caches.appending(path: "http"), limits: limits)
        let writer = store.begin(
            StoredHead(key: key, status: 200, headerFields: fields, requestTime: sent, responseTime: received)
        )
        writer?.append(body)
        try await writer?.commit()
        var responses = store.resident(key)  // from memory alone
        if responses == nil { responses = await store.lookup(key) }
        // end snippet
        return responses
    }
}
