public import Foundation
public import HTTPTypes

/// Whether a response may be stored (RFC 9111 §3).
///
/// A private cache may store responses to requests with `Authorization` (§3.5 applies to shared caches) and responses
/// that set cookies (RFC 6265 requires nothing of caches); the store must keep logins apart. Trailer fields are
/// discarded: callers pass only the header section (§3.1).
public enum StoringDecision: Hashable, Sendable {
    /// Store the response: keep this head together with the content.
    case store(StoredHead)
    /// Do not store the response.
    case refuse(StoringRefusal)

    /// Decides whether a response may be stored.
    ///
    /// To store a response while its content is still arriving, decide when the head has arrived and commit when the
    /// content has ended without an error.
    ///
    /// - Parameters:
    ///   - response: The status and the header fields as received.
    ///   - request: The request as sent, with scheme, authority and path.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the head of the response was received.
    ///   - contentLength: The number of bytes of the content, if known; see ``StoredHead/contentLength``.
    ///   - isComplete: False when the content is known to be truncated.
    ///   - rules: The caching rules.
    public init(
        of response: HTTPResponse,
        to request: HTTPRequest,
        requestTime: Date,
        responseTime: Date,
        contentLength: Int? = nil,
        isComplete: Bool = true,
        rules: CachingRules = .standard
    ) {
        guard response.headerFields.count <= HTTPFields.greatestStoredCount else {
            self = .refuse(.tooManyFields)
            return
        }
        let cacheControl = CacheControl(response.headerFields)
        guard let url = request.targetURI else {
            self = .refuse(.target)
            return
        }
        if let refusal = Self.refusal(of: response, cacheControl, to: request, url: url, rules) {
            self = .refuse(refusal)
            return
        }
        let vary = VaryKey(response.headerFields, request: request.headerFields, status: response.status.code)
        guard !vary.matchesNothing else {
            self = .refuse(.variesOnEverything)
            return
        }
        guard isComplete else {
            self = .refuse(.incomplete)
            return
        }
        guard !response.headerFields.hasUncertainLength else {
            self = .refuse(.uncertainLength)
            return
        }
        self = .store(
            StoredHead(
                key: RequestKey(method: request.method.rawValue, url: url),
                status: response.status.code,
                headerFields: response.headerFields.withoutConnectionFields()
                    .without(cacheControl.noCache.fieldNames)
                    .dated(responseTime),
                vary: vary,
                requestTime: requestTime,
                responseTime: responseTime,
                contentLength: contentLength
            )
        )
    }

    private static func refusal(
        of response: HTTPResponse,
        _ cacheControl: CacheControl,
        to request: HTTPRequest,
        url: String,
        _ rules: CachingRules
    ) -> StoringRefusal? {
        let hasExpiry = cacheControl.maxAge != nil || response.headerFields.contains(.expires)
        guard request.method == .get || (hasExpiry && isPostForLaterGet(request, response, url: url)) else {
            return .method
        }
        switch response.status.code {
        case ..<200: return .interim
        case 206:
            // Only with one range of known bytes, and without a coding of which it would be a part.
            guard case .part? = response.headerFields.firstValue(.contentRange).flatMap(ContentRange.init),
                request.headerFields.contains(.range), !response.headerFields.contains(.contentEncoding)
            else { return .partialContent }
        case 304: return .notModified
        case 412, 416: return .conditional
        case 428, 429, 431, 511: return .uncacheableStatus
        default: break
        }
        if RequestCacheControl(request.headerFields).noStore { return .requestNoStore }
        if cacheControl.mustUnderstand {
            guard rules.understoodStatuses.contains(response.status.code) else { return .notUnderstood }
        } else if cacheControl.noStore {
            return .responseNoStore
        }
        // The qualified form too: the fields that it names would have to be removed.
        if rules.servesSeveralUsers, cacheControl.private != .nothing { return .personal }
        guard
            hasExpiry || cacheControl.isPublic || cacheControl.private == .response
                || rules.heuristicStatuses.contains(response.status.code)
        else { return .notMarkedStorable }
        return nil
    }

    /// Whether the response to a POST may answer a later GET: it has an explicit lifetime and a `Content-Location` that
    /// is the target URI (RFC 9110 §9.3.3).
    private static func isPostForLaterGet(_ request: HTTPRequest, _ response: HTTPResponse, url: String) -> Bool {
        guard request.method == .post, response.status.code == 200,
            let location = response.headerFields.firstValue(.contentLocation), let target = CanonicalURL(url)
        else { return false }
        return target.ofSameOrigin(location) == target
    }
}

extension HTTPFields {
    /// Whether the fields do not determine where the content ends.
    package var hasUncertainLength: Bool {
        switch ContentLength(combined(.contentLength)) {
        case .absent: false
        case .bytes: contains(.transferEncoding)
        case .invalid: true
        }
    }

    /// How many field lines may be stored; far fewer than `HTTPFields` can hold, so that adding to them never traps.
    static var greatestStoredCount: Int { 16_384 }

    /// The fields, without every field that has one of the names.
    func without(_ names: [HTTPField.Name]) -> HTTPFields {
        names.isEmpty ? self : HTTPFields(filter { !names.contains($0.name) })
    }

    /// The fields with a valid `Date`: if it is missing or invalid, the time of receipt is used (RFC 9110 §6.6.1).
    func dated(_ received: Date) -> HTTPFields {
        let received = HTTPDate(nearestTo: received.timeIntervalSince1970)
        if let date = firstValue(.date), HTTPDate(cached: date, now: received) != nil { return self }
        var dated = self
        dated[.date] = received.fieldValue
        return dated
    }
}

/// Why a response may not be stored.
public enum StoringRefusal: Hashable, Sendable {
    /// The method is not GET, nor a POST whose response says that it may answer a later GET (RFC 9111 §3, RFC 9110
    /// §9.3.3).
    case method
    /// The target URI is not absolute, so that the response could never be found (RFC 9111 §2).
    case target
    /// The response is an interim response, 1xx (RFC 9111 §3).
    case interim
    /// 206, but not with one range of bytes that was asked for: several ranges, another unit, or bytes of a content coding
    /// (RFC 9110 §15.3.7).
    case partialContent
    /// 304: it updates a stored response and is not a complete response itself (RFC 9111 §3, §4.3.4).
    case notModified
    /// 412 or 416: the answer to a precondition or a range, which are not part of the cache key (RFC 9111 §4).
    case conditional
    /// 428, 429, 431 or 511: a cache must not store responses with these status codes (RFC 6585 §3 to §6).
    case uncacheableStatus
    /// The request has `no-store` (RFC 9111 §5.2.1.5).
    case requestNoStore
    /// The response has `no-store` (RFC 9111 §5.2.2.5).
    case responseNoStore
    /// The response is meant for one user, and the cache answers several (RFC 9111 §5.2.2.7).
    case personal
    /// The response has `must-understand`, and its status code's rules are not implemented (RFC 9111 §5.2.2.3).
    case notUnderstood
    /// The response has none of `public`, `private`, `max-age` and `Expires`, and its status code is not heuristically
    /// cacheable (RFC 9111 §3).
    case notMarkedStorable
    /// The response has `Vary: *`, which no later request matches (RFC 9111 §4.1).
    case variesOnEverything
    /// The response has more than 16,384 field lines; a recipient may limit them (RFC 9110 §5.4), and `HTTPFields`
    /// traps beyond 65,534.
    case tooManyFields
    /// The content did not arrive completely (RFC 9111 §3.3).
    case incomplete
    /// `Content-Length` is not a number, contradicts itself, or occurs together with `Transfer-Encoding`: where the
    /// content ends is uncertain (RFC 9112 §6.1, §6.3). So it is if no field states the length, and the client cannot tell
    /// the end of such content from a cut.
    case uncertainLength
    /// The content had a content coding that was decoded without a check that the encoded bytes were complete.
    case uncheckedCoding
}
