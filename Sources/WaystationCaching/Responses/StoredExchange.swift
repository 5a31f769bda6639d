public import Foundation
public import HTTPTypes

/// The data of one response, besides its content, that a store keeps for later decisions.
///
/// Make it with ``StoringDecision``.
public struct StoredExchange: Sendable, Hashable {
    /// The number of bytes of the content as the fields describe it, or nil when it is unknown.
    ///
    /// Ranges are answered only if it is set. Leave it nil when the store keeps decoded content of a response with
    /// `Content-Encoding`: ranges count encoded bytes.
    public var contentLength: Int?
    /// Whether the content arrived completely; incomplete content is never used (RFC 9111 §3.3).
    public var isComplete: Bool
    /// Whether the exchange must be validated before its next use, even if it is fresh (RFC 9111 §4.3.5, §4.4).
    public var needsValidation: Bool

    private let record: ExchangeRecord

    /// Makes an exchange from the values that a store kept.
    ///
    /// - Parameters:
    ///   - url: The target URI.
    ///   - method: The method of the request.
    ///   - vary: The key that was made when the response was stored.
    ///   - response: The status and the header fields.
    ///   - requestTime: When the request was sent.
    ///   - responseTime: When the response was received.
    ///   - contentLength: The number of bytes of the content, if known.
    ///   - isComplete: Whether the content arrived completely.
    ///   - needsValidation: Whether the exchange must be validated before its next use.
    public init(
        url: String,
        method: HTTPRequest.Method = .get,
        vary: VaryKey,
        response: HTTPResponse,
        requestTime: Date,
        responseTime: Date,
        contentLength: Int? = nil,
        isComplete: Bool = true,
        needsValidation: Bool = false
    ) {
        self.contentLength = contentLength
        self.isComplete = isComplete
        self.needsValidation = needsValidation
        record = ExchangeRecord(
            method: method,
            url: url,
            vary: vary,
            response: response,
            requestTime: requestTime,
            responseTime: responseTime
        )
    }

    /// The method of the request: GET, or POST if its response may answer a later GET (RFC 9110 §9.3.3).
    public var method: HTTPRequest.Method { record.method }

    /// The target URI.
    ///
    /// Finding the exchanges whose URI is that of a request is the store's task (RFC 9111 §4).
    public var url: String { record.url }

    /// The request fields that `Vary` nominated.
    public var vary: VaryKey { record.vary }

    /// The status and the header fields, without those that apply to the connection only and those that `no-cache="…"`
    /// names.
    public var response: HTTPResponse { record.response }

    /// When the request was sent that led to the response, or that validated it last.
    public var requestTime: Date { record.requestTime }

    /// When that response was received.
    public var responseTime: Date { record.responseTime }

    var facts: ResponseFacts { record.facts }

    /// The response's directives.
    public var cacheControl: CacheControl { facts.cacheControl }

    /// Whether the response has a validator: an `ETag` or a `Last-Modified` field.
    public var hasValidator: Bool { facts.entityTag != nil || facts.lastModified != nil }

    /// When the response was generated, by its `Date` field, or when it was received if it has none.
    public var date: Date { Date(timeIntervalSince1970: facts.date) }
}

/// The part of an exchange that never changes, behind one reference.
///
/// Decisions copy exchanges, and copying an exchange of a dozen strings would retain each of them.
private final class ExchangeRecord: Hashable, Sendable {
    let method: HTTPRequest.Method
    let url: String
    let vary: VaryKey
    let response: HTTPResponse
    let requestTime: Date
    let responseTime: Date
    let facts: ResponseFacts

    init(
        method: HTTPRequest.Method,
        url: String,
        vary: VaryKey,
        response: HTTPResponse,
        requestTime: Date,
        responseTime: Date
    ) {
        self.method = method
        self.url = url
        self.vary = vary
        self.response = response
        self.requestTime = requestTime
        self.responseTime = responseTime
        facts = ResponseFacts(
            response,
            url: url,
            requestTime: requestTime.timeIntervalSince1970,
            responseTime: responseTime.timeIntervalSince1970
        )
    }

    static func == (left: ExchangeRecord, right: ExchangeRecord) -> Bool {
        left === right
            || left.url == right.url && left.method == right.method && left.vary == right.vary
                && left.response == right.response && left.requestTime == right.requestTime
                && left.responseTime == right.responseTime
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(url)
        hasher.combine(vary)
        hasher.combine(responseTime)
    }
}
