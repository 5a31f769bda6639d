public import Foundation
public import HTTPTypes
import Synchronization

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
    /// Whether the content arrived completely; of incomplete content, only ranges of bytes are used (RFC 9111 §3.3).
    public var isComplete: Bool
    /// Whether the stored response must be validated before its next use, even if it is fresh (RFC 9111 §4.3.5, §4.4).
    public var needsValidation: Bool
    /// The moment from which the stored response counts as stale, whatever its lifetime is; nil if only its lifetime counts.
    ///
    /// It is that of a purge after which the response may still be used where a stale one may (RFC 9111 §4.2.4). The update
    /// by a validation has none.
    public var staleFrom: Date?
    /// The spans of bytes that are stored of an incomplete content, sorted, which do not touch; nil if no part of it may be
    /// used.
    package var held: [Range<Int>]?

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

    /// Whether the response is fresh and does not change until it is not (RFC 8246): a reload need not ask its server.
    package func isImmutable(at freshness: Freshness) -> Bool { facts.isImmutable && freshness.isFresh }

    /// When the response was generated, by its `Date` field, or when it was received if it has none.
    public var date: Date { Date(timeIntervalSince1970: facts.date) }

    /// The tags and groups by which the response is purged.
    ///
    /// - Complexity: O(1); the fields are read once.
    package var labels: Set<ResponseLabel> { record.labels }

    /// The same head under another key, such as one in another partition.
    public func under(_ key: RequestKey) -> StoredHead { with(headerFields, under: key) }

    /// The same head with other fields.
    func with(_ headerFields: HTTPFields, under key: RequestKey? = nil) -> StoredHead {
        var head = StoredHead(
            key: key ?? self.key,
            status: status,
            headerFields: headerFields,
            vary: vary,
            requestTime: requestTime,
            responseTime: responseTime,
            contentLength: contentLength,
            isComplete: isComplete,
            needsValidation: needsValidation
        )
        head.staleFrom = staleFrom
        head.held = held
        return head
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
    /// Read from the fields when something was purged: most heads are never asked for them.
    private let lazyLabels = AtomicLazyReference<ResponseLabels>()

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

    var labels: Set<ResponseLabel> {
        if let labels = lazyLabels.load() { return labels.all }
        let fields = contents.headerFields
        let labels = ResponseLabel.labels(
            tags: fields.lines(of: LabelFields.tags),
            groups: fields.lines(of: LabelFields.groups),
            url: contents.key.url
        )
        return lazyLabels.storeIfNil(ResponseLabels(labels)).all
    }

    static func == (left: Record, right: Record) -> Bool { left === right || left.contents == right.contents }

    func hash(into hasher: inout Hasher) { contents.hash(into: &hasher) }
}

/// The labels of a response, read once.
private final class ResponseLabels: Sendable {
    let all: Set<ResponseLabel>

    init(_ all: Set<ResponseLabel>) { self.all = all }
}

/// The values that decisions need from a stored response, read once, so that each decision is arithmetic.
final class ResponseFacts: Sendable {
    /// A freshness lifetime in seconds, and its source.
    struct Lifetime: Hashable, Sendable {
        var seconds: Double
        var basis: Freshness.Basis
    }

    let cacheControl: CacheControl
    let entityTag: EntityTag?
    /// `Last-Modified`, if it is valid.
    let lastModified: HTTPDate?
    /// `Last-Modified` exactly as received, to be sent back unchanged.
    let lastModifiedText: String?
    /// `Date` in seconds since 1970, or the time of receipt if there is no `Date` (RFC 9110 §6.6.1).
    let date: Double
    /// The origin's explicit lifetime, in seconds, and its source; nil if it states none (RFC 9111 §4.2.1).
    let explicitLifetime: Lifetime?
    /// The time from `Last-Modified` to `Date`, if heuristics may apply apart from the status code (RFC 9111 §4.2.2).
    let heuristicSpan: Double?
    /// Whether `public` or `private` marks the response as storable whatever its status code.
    let isMarkedStorable: Bool
    /// corrected_initial_age (RFC 9111 §4.2.3).
    let initialAge: Double
    let staleWhileRevalidate: Double
    let staleIfError: Double?
    /// Whether `immutable` applies, which requires that the response was authenticated (RFC 8246 §3), or came from this
    /// machine.
    let isImmutable: Bool
    let hasQuery: Bool
    /// Whether the fields have one for tags, which is not delivered.
    let isTagged: Bool
    /// Whether the response is a part that its origin must confirm before it is used (``StoredHead/unconfirmed``).
    let isUnconfirmed: Bool

    init(_ fields: HTTPFields, url: String, requestTime: Double, responseTime: Double) {
        let received = HTTPDate(nearestTo: responseTime)
        let date = fields.firstValue(.date).flatMap { HTTPDate(cached: $0, now: received) }?.moment ?? responseTime
        self.date = date
        cacheControl = CacheControl(fields)
        entityTag = fields.firstValue(.eTag).flatMap { EntityTag(asItCame: $0) }
        let modifiedText = fields.firstValue(.lastModified)
        lastModified = modifiedText.flatMap { HTTPDate(cached: $0, now: received) }
        lastModifiedText = lastModified == nil ? nil : modifiedText

        if let maxAge = cacheControl.maxAge {
            explicitLifetime = Lifetime(seconds: maxAge.inSeconds, basis: .maxAge)
        } else if let expires = fields.firstValue(.expires) {
            // §5.3: an invalid date means that the response has already expired.
            let expiry = HTTPDate(cached: expires, now: received)?.moment ?? date
            let seconds = min(max(expiry - date, 0), DeltaSeconds.greatest)
            explicitLifetime = Lifetime(seconds: seconds, basis: .expires)
        } else {
            explicitLifetime = nil
        }
        heuristicSpan = lastModified.map { date - $0.moment }.flatMap { $0 > 0 ? $0 : nil }
        isMarkedStorable = cacheControl.isPublic || cacheControl.private == .response

        // §5.1: the first member counts; a value that is not a number is ignored. Behind a number, parameters are left out,
        // as in a structured field: an age that is too great only costs a validation.
        let age = fields.firstValue(.age)?.listMembers.first?.prefix { $0 != ";" }
        let ageValue = age.flatMap { DeltaSeconds.parse($0.trimmingSpace()) } ?? 0
        let apparentAge = max(0, responseTime - date)
        let responseDelay = max(0, responseTime - requestTime)
        initialAge = min(max(apparentAge, ageValue + responseDelay), DeltaSeconds.greatest)

        staleWhileRevalidate = cacheControl.staleWhileRevalidate?.inSeconds ?? 0
        staleIfError = cacheControl.staleIfError?.inSeconds
        isImmutable =
            cacheControl.immutable
            && (url.startsIgnoringCase(with: "https://") || CanonicalURL(url)?.host.isLoopbackHost ?? false)
        hasQuery = url.utf8.contains(UInt8(ascii: "?"))
        isTagged = fields.contains { $0.name.canonicalName == LabelFields.tags }
        isUnconfirmed = fields.contains { $0.name.canonicalName == StoredHead.unconfirmedField }
    }
}

/// The key of a stored response: one method on one URL, within one partition.
///
/// Keys are compared byte for byte. Two spellings of one URL are two keys, so canonicalise URLs first.
public struct RequestKey: Hashable, Sendable {
    /// The method as sent, such as `GET`.
    ///
    /// Methods are case-sensitive (RFC 9110 §9.1).
    public let method: String

    /// The canonical absolute URL, query included, without its fragment.
    ///
    /// The cache of an interceptor adds a fragment for what else belongs to a key, such as a digest of the request's body.
    public let url: String

    /// Separates the responses of callers who must not see each other's, such as two logins.
    ///
    /// The default, the empty string, is the partition that all callers share.
    public let partition: String

    /// Makes a key.
    public init(method: String, url: String, partition: String = "") {
        self.method = method
        self.url = url
        self.partition = partition
    }
}

extension Date {
    /// Whole microseconds since 1970, the unit of a stored response's times.
    package var microseconds: Int64 {
        let value = (timeIntervalSince1970 * 1_000_000).rounded()
        // The comparison is false for NaN too, and prevents a trap for dates that are very far away.
        return abs(value) < 9e18 ? Int64(value) : (value > 0 ? .max : .min)
    }

    package init(microseconds: Int64) {
        self.init(timeIntervalSince1970: Double(microseconds) / 1_000_000)
    }
}

/// The age and the freshness lifetime of a stored response (RFC 9111 §4.2), in whole seconds.
public struct Freshness: Hashable, Sendable {
    /// The source of a lifetime.
    public enum Basis: Hashable, Sendable {
        /// The `max-age` directive (§4.2.1).
        case maxAge
        /// The `Expires` field (§4.2.1).
        case expires
        /// The cache's own estimate (§4.2.2).
        case heuristic
        /// A purge, which has ended the lifetime early (``StoredHead/staleFrom``).
        case purge
        /// No source: the response is stale from the beginning.
        case none
    }

    /// current_age (§4.2.3); 2^31 when it is unknown because the clock went back.
    public let age: Duration
    /// freshness_lifetime (§4.2.1).
    public let lifetime: Duration
    /// The source of the lifetime.
    public let basis: Basis

    /// Whether the lifetime is greater than the age; when they are equal, the response is stale (§4.2).
    public var isFresh: Bool { lifetime > age }

    /// How much longer the response is fresh; negative when it is stale.
    public var timeToLive: Duration { lifetime - age }
}

extension StoredHead {
    /// The stored response's age and lifetime at a given time.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - rules: The rules for heuristics and the clock; the standard rules by default.
    /// - Returns: The age, the lifetime, and the source of the lifetime.
    /// - Complexity: O(1); the fields are read once.
    public func freshness(now: Date, rules: CachingRules = .standard) -> Freshness {
        var lifetime = lifetime(rules)
        if let staleFrom {
            // Its age at that moment, but not more than now, also after the clock was set back.
            let resident = min(staleFrom, now).timeIntervalSince(responseTime)
            let ended = min(facts.initialAge + max(resident, 0), DeltaSeconds.greatest)
            if ended < lifetime.seconds { lifetime = ResponseFacts.Lifetime(seconds: ended, basis: .purge) }
        }
        return Freshness(
            age: Duration(wholeSeconds: age(now: now.timeIntervalSince1970, rules)),
            lifetime: Duration(wholeSeconds: lifetime.seconds),
            basis: lifetime.basis
        )
    }

    /// The next time at which the age, in whole seconds, changes.
    package func nextAge(after now: Date, rules: CachingRules) -> Date {
        let age = age(now: now.timeIntervalSince1970, rules)
        return now.addingTimeInterval(age.rounded(.down) + 1 - age)
    }

    /// current_age = corrected_initial_age + resident_time (§4.2.3).
    private func age(now: Double, _ rules: CachingRules) -> Double {
        let resident = now - responseTime.timeIntervalSince1970
        guard resident >= -rules.clockTolerance.inSeconds else { return DeltaSeconds.greatest }
        return min(facts.initialAge + max(resident, 0), DeltaSeconds.greatest)
    }

    /// The lifetime by max-age, else by Expires, else by the heuristic (§4.2.1); `s-maxage` is for shared caches.
    private func lifetime(_ rules: CachingRules) -> ResponseFacts.Lifetime {
        if let explicit = facts.explicitLifetime { return explicit }
        guard let span = facts.heuristicSpan, rules.heuristicFraction > 0,
            facts.isMarkedStorable || rules.heuristicStatuses.contains(status),
            rules.usesHeuristicsForQueries || !facts.hasQuery
        else { return ResponseFacts.Lifetime(seconds: 0, basis: .none) }
        let guess = min(span * rules.heuristicFraction, rules.heuristicMaximum.inSeconds, DeltaSeconds.greatest)
        return ResponseFacts.Lifetime(seconds: max(guess, 0).rounded(.down), basis: .heuristic)
    }
}
