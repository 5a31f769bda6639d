import Foundation
import HTTPTypes

extension StoredExchange {
    /// The exchange with the fields of a newer response (RFC 9111 §3.2).
    ///
    /// Nothing is updated by more lines than may be stored. Every field of the response replaces its namesake, `Content-Type` among them, except:
    /// those that end with the connection and those of a proxy (§3.1); those that `no-cache="…"` names (§3.1,
    /// §5.2.2.4); `Content-Length` (§3.2); and `Content-Encoding` and `Content-Range`, on which the stored content
    /// depends and which would make it unreadable (§3.2).
    ///
    /// `Age` of the older response goes in any case: the age begins anew with the validation (§4.2.3). `Date` becomes
    /// the time of receipt where the response has none. The variant is told anew from the request when `Vary` changed.
    func updated(
        from response: HTTPResponse,
        request: HTTPRequest,
        requestTime: Date,
        responseTime: Date
    ) -> StoredExchange {
        let received = response.headerFields.withoutConnectionFields()
        var excluded = CacheControl(received).noCache.fieldNames
        if !received.contains(.cacheControl) { excluded += facts.cacheControl.noCache.fieldNames }
        excluded += Self.fieldsOfTheContent
        let newer = received.without(excluded)
        guard newer.count + self.response.headerFields.count <= HTTPFields.greatestStoredCount else { return self }
        let replaced = Set(newer.map(\.name)).union([.age, .date])
        var merged = self.response
        merged.headerFields = HTTPFields(self.response.headerFields.filter { !replaced.contains($0.name) })
        merged.headerFields.append(contentsOf: newer)
        merged.headerFields = merged.headerFields
            .without(CacheControl(merged.headerFields).noCache.fieldNames)
            .dated(responseTime)
        let isSameVary = !newer.contains(.vary) || newer[.vary] == self.response.headerFields[.vary]
        return StoredExchange(
            url: url,
            method: method,
            vary: isSameVary ? vary : VaryKey(merged.headerFields, request: request.headerFields),
            response: merged,
            requestTime: requestTime,
            responseTime: responseTime,
            contentLength: contentLength,
            isComplete: isComplete
        )
    }

    /// The exchange as the one for another request, which the origin answered by it.
    func adopted(by request: HTTPRequest) -> StoredExchange {
        StoredExchange(
            url: url,
            method: method,
            vary: VaryKey(response.headerFields, request: request.headerFields),
            response: response,
            requestTime: requestTime,
            responseTime: responseTime,
            contentLength: contentLength,
            isComplete: isComplete
        )
    }

    private static let fieldsOfTheContent: [HTTPField.Name] = [.contentLength, .contentEncoding, .contentRange]
}
