public import Foundation
public import HTTPTypes

extension StoredHead {
    /// The stored response with the fields of a newer response (RFC 9111 §3.2).
    ///
    /// It stays as it is if it would get more field lines than may be stored. Every field of the newer response replaces
    /// the stored fields of the same name, including `Content-Type`, except: fields that apply to the connection only
    /// and proxy fields (§3.1); fields that `no-cache="…"` names (§3.1, §5.2.2.4); `Content-Length` (§3.2); `Content-Digest`,
    /// which describes the content of the newer message (RFC 9530 §2); and `Content-Encoding` and `Content-Range`, on which
    /// the stored content depends: changing them would make it unreadable (§3.2).
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
        let newer = received.without(control.noCache.fieldNames + Self.fieldsOfTheContent).withoutContentDigest()
        guard newer.count + headerFields.count <= HTTPFields.greatestStoredCount else { return self }
        let replaced = Set(newer.map(\.name)).union([.age, .date])
        var merged = HTTPFields(headerFields.confirmed().filter { !replaced.contains($0.name) })
        merged.append(contentsOf: newer)
        // Unless the newer `Cache-Control` is one of the fields that are not stored, it is the merged one.
        let isNewerControl = newer.contains(.cacheControl)
        merged = merged.without((isNewerControl ? control : facts.cacheControl).noCache.fieldNames).dated(responseTime)
        let isSameVary = !newer.contains(.vary) || newer[.vary] == headerFields[.vary]
        return StoredHead(
            key: key,
            status: status,
            headerFields: merged,
            vary: isSameVary ? vary : VaryKey(merged, request: request.headerFields, status: status),
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

extension StoredHead {
    /// Whether a stored response that was merged with a newer one may stay in the store.
    ///
    /// It may not if the newer response has `no-store` (RFC 9111 §5.2.2.5), or if no later request would match the
    /// merged `Vary` (§4.1).
    ///
    /// - Parameters:
    ///   - newer: The 304, or the response to a HEAD, that this head was updated from.
    ///   - rules: The caching rules.
    /// - Returns: Whether the merged response may be stored in place of the older one.
    func mayStayStored(after newer: HTTPResponse, _ rules: CachingRules) -> Bool {
        let fields = newer.headerFields
        let control = fields.contains(.cacheControl) ? CacheControl(fields) : cacheControl
        return control.allowsStoring(status: status, rules) && !vary.matchesNothing
    }

    /// The stored response without changes, except that it must be validated before its next use.
    var outdated: StoredHead {
        var head = self
        head.needsValidation = true
        return head
    }
}

extension CacheControl {
    /// Whether `no-store` and `must-understand` allow a response with this status code to be stored (RFC 9111 §5.2.2.3,
    /// §5.2.2.5).
    package func allowsStoring(status: Int, _ rules: CachingRules) -> Bool {
        mustUnderstand ? rules.understoodStatuses.contains(status) : !noStore
    }
}

/// The effect of a full response to a GET on the stored responses of its target (RFC 9111 §4.3.3).
package struct Replacement: Sendable {
    /// The indices of the stored responses that the response shows to be outdated.
    package let outdated: [Int]
    /// Whether the response may be stored.
    ///
    /// An error or a refusal never replaces a good response: a 503, 403 or 429 is about one request, and the stored
    /// response is still what the target was last known to be.
    package let mayBeStored: Bool

    /// Determines the effect of a response.
    ///
    /// A part shows that responses with another strong validator are outdated. A whole response replaces the parts, too.
    ///
    /// - Parameters:
    ///   - status: The status code of the response.
    ///   - validators: The validators of the response.
    ///   - request: The request that it answers.
    ///   - stored: All stored responses of the target.
    package init(
        by status: Int,
        _ validators: @autoclosure () -> Validators,
        to request: HTTPRequest,
        among stored: [StoredHead]
    ) {
        let selectable = stored.indices.filter { stored[$0].mayAnswer(request) || stored[$0].isPart(of: request) }
        guard status != 206 else {
            let validators = validators()
            outdated = selectable.filter { validators.contradicts(Validators(stored[$0].headerFields)) }
            mayBeStored = true
            return
        }
        let describesTarget = Self.describesTarget(status)
        outdated = describesTarget ? selectable : []
        mayBeStored = describesTarget || !selectable.contains { Self.describesTarget(stored[$0].status) }
    }

    /// Whether a response with this status code describes the present state of its target, or its absence.
    ///
    /// A 206 is a part of it, and a 304 answers a condition of the client.
    package static func describesTarget(_ status: Int) -> Bool {
        switch status {
        case 206, 304: false
        case 200..<400, 404, 410: true
        default: false
        }
    }
}

extension StoredHead {
    /// Whether this is a part of a representation that a request, for whichever bytes of it, could have selected.
    fileprivate func isPart(of request: HTTPRequest) -> Bool {
        status == 206 && vary.without(.range).matches(request.headerFields)
    }
}

/// A change to stored responses that a response of the origin requires.
public enum StoredChange: Hashable, Sendable {
    /// Replace the stored response at this index; its content stays.
    case update(index: Int, StoredHead)
    /// Add a stored response with the same content as the one at this index: the origin selected that variant for the
    /// request.
    case add(contentOf: Int, StoredHead)
}
