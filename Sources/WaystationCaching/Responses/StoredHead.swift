public import Foundation
public import HTTPTypes
import Synchronization
import WaystationFields

/// A stored response without its body: what a store keeps beside the body, and all that the caching rules decide by.
///
/// ``StoringDecision`` makes the head of a response that may be stored. Copies share one object, so that a decision
/// copies one reference instead of a dozen strings.
public struct StoredHead: Sendable, Hashable {
    /// The number of bytes of the content as the fields describe it, or nil when it is unknown.
    ///
    /// Ranges are answered only if it is set. Leave it nil when the store keeps decoded content of a response with
    /// `Content-Encoding`: ranges count encoded bytes.
    public var contentLength: Int?
    /// Whether the content arrived completely; incomplete content is never used (RFC 9111 §3.3).
    public var isComplete: Bool
    /// Whether the stored response must be validated before its next use, even if it is fresh (RFC 9111 §4.3.5, §4.4).
    public var needsValidation: Bool

    private let record: Record

    /// Makes the head of a stored response.
    ///
    /// - Parameters:
    ///   - key: The key of the request that the response answers.
    ///   - status: The status code; a number that HTTP cannot express becomes the nearest one from 0 to 999.
    ///   - headerFields: The header fields; their order, their case and repeated fields are kept.
    ///   - vary: The request fields that selected the response.
    ///   - requestTime: When the request was sent; it is rounded to microseconds, in which heads are stored.
    ///   - responseTime: When the response was received; it is rounded too.
    ///   - contentLength: The number of bytes of the content, if known.
    ///   - isComplete: Whether the content arrived completely.
    ///   - needsValidation: Whether the response must be validated before its next use.
    public init(
        key: RequestKey,
        status: Int,
        headerFields: HTTPFields,
        vary: VaryKey = .none,
        requestTime: Date,
        responseTime: Date,
        contentLength: Int? = nil,
        isComplete: Bool = true,
        needsValidation: Bool = false
    ) {
        self.contentLength = contentLength
        self.isComplete = isComplete
        self.needsValidation = needsValidation
        record = Record(
            Contents(
                key: key,
                status: min(max(status, 0), 999),
                headerFields: headerFields,
                vary: vary,
                requestTime: Date(microseconds: requestTime.microseconds),
                responseTime: Date(microseconds: responseTime.microseconds)
            )
        )
    }

    /// The key of the request that the response answers: its method, its target URI and the partition.
    ///
    /// The method is GET, or POST if the response may answer a later GET (RFC 9110 §9.3.3). Finding the responses whose
    /// key is that of a presented request is the store's task (RFC 9111 §4).
    public var key: RequestKey { record.contents.key }

    /// The status code, from 0 to 999.
    public var status: Int { record.contents.status }

    /// The header fields, without those that apply to the connection only and those that `no-cache="…"` names.
    public var headerFields: HTTPFields { record.contents.headerFields }

    /// The request fields that `Vary` nominated.
    public var vary: VaryKey { record.contents.vary }

    /// When the request was sent that led to the response, or that validated it last.
    public var requestTime: Date { record.contents.requestTime }

    /// When that response was received.
    ///
    /// Age is calculated from this time.
    public var responseTime: Date { record.contents.responseTime }

    var facts: ResponseFacts { record.facts }

    /// The response's directives.
    public var cacheControl: CacheControl { facts.cacheControl }

    /// Whether the response has a validator: an `ETag` or a `Last-Modified` field.
    public var hasValidator: Bool { facts.entityTag != nil || facts.lastModified != nil }

    /// When the response was generated, by its `Date` field, or when it was received if it has none.
    public var date: Date { Date(timeIntervalSince1970: facts.date) }

    /// The same head under another key, such as one in another partition.
    public func under(_ key: RequestKey) -> StoredHead {
        StoredHead(
            key: key,
            status: status,
            headerFields: headerFields,
            vary: vary,
            requestTime: requestTime,
            responseTime: responseTime,
            contentLength: contentLength,
            isComplete: isComplete,
            needsValidation: needsValidation
        )
    }
}

/// The part of a head that never changes.
private struct Contents: Hashable, Sendable {
    let key: RequestKey
    let status: Int
    let headerFields: HTTPFields
    let vary: VaryKey
    let requestTime: Date
    let responseTime: Date
}

/// The object that the copies of a head share.
private final class Record: Hashable, Sendable {
    let contents: Contents
    /// Read from the fields when a decision needs them first: a store reads and writes heads without a decision too.
    private let lazyFacts = AtomicLazyReference<ResponseFacts>()

    init(_ contents: Contents) { self.contents = contents }

    var facts: ResponseFacts {
        if let facts = lazyFacts.load() { return facts }
        return lazyFacts.storeIfNil(
            ResponseFacts(
                contents.headerFields,
                url: contents.key.url,
                requestTime: contents.requestTime.timeIntervalSince1970,
                responseTime: contents.responseTime.timeIntervalSince1970
            )
        )
    }

    static func == (left: Record, right: Record) -> Bool { left === right || left.contents == right.contents }

    func hash(into hasher: inout Hasher) { contents.hash(into: &hasher) }
}
