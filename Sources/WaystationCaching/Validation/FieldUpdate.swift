import Foundation
import HTTPTypes

extension StoredHead {
    /// The stored response with the fields of a newer response (RFC 9111 §3.2).
    ///
    /// It stays as it is if it would get more field lines than may be stored. Every field of the newer response replaces
    /// the stored fields of the same name, including `Content-Type`, except: fields that apply to the connection only
    /// and proxy fields (§3.1); fields that `no-cache="…"` names (§3.1, §5.2.2.4); `Content-Length` (§3.2); and
    /// `Content-Encoding` and `Content-Range`, on which the stored content depends: changing them would make it
    /// unreadable (§3.2).
    ///
    /// `Age` of the older response is always removed: the age starts again with the validation (§4.2.3). `Date` becomes
    /// the time of receipt if the response has none. If `Vary` changed, the vary key is made again from the request.
    func updated(
        from response: HTTPResponse,
        request: HTTPRequest,
        requestTime: Date,
        responseTime: Date
    ) -> StoredHead {
        let received = response.headerFields.withoutConnectionFields()
        let control = received.contains(.cacheControl) ? CacheControl(received) : facts.cacheControl
        let newer = received.without(control.noCache.fieldNames + Self.fieldsOfTheContent)
        guard newer.count + headerFields.count <= HTTPFields.greatestStoredCount else { return self }
        let replaced = Set(newer.map(\.name)).union([.age, .date])
        var merged = HTTPFields(headerFields.filter { !replaced.contains($0.name) })
        merged.append(contentsOf: newer)
        // Unless the newer `Cache-Control` is one of the fields that are not stored, it is the merged one.
        let isNewerControl = newer.contains(.cacheControl)
        merged = merged.without((isNewerControl ? control : facts.cacheControl).noCache.fieldNames).dated(responseTime)
        let isSameVary = !newer.contains(.vary) || newer[.vary] == headerFields[.vary]
        return StoredHead(
            key: key,
            status: status,
            headerFields: merged,
            vary: isSameVary ? vary : VaryKey(merged, request: request.headerFields),
            requestTime: requestTime,
            responseTime: responseTime,
            contentLength: contentLength,
            isComplete: isComplete
        )
    }

    /// The stored response as the answer to another request, which the origin confirmed for that request.
    func adopted(by request: HTTPRequest) -> StoredHead {
        StoredHead(
            key: key,
            status: status,
            headerFields: headerFields,
            vary: VaryKey(headerFields, request: request.headerFields),
            requestTime: requestTime,
            responseTime: responseTime,
            contentLength: contentLength,
            isComplete: isComplete
        )
    }

    private static let fieldsOfTheContent: [HTTPField.Name] = [.contentLength, .contentEncoding, .contentRange]
}
