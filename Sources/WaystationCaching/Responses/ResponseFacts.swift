import Foundation
import HTTPTypes
import WaystationFields

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
    /// The origin's explicit lifetime, in seconds, and its source; nil when there is none (RFC 9111 §4.2.1).
    let explicitLifetime: Lifetime?
    /// The time from `Last-Modified` to `Date`, if heuristics may apply apart from the status code (RFC 9111 §4.2.2).
    let heuristicSpan: Double?
    /// Whether `public` or `private` marks the response as storable whatever its status code.
    let isMarkedStorable: Bool
    /// corrected_initial_age (RFC 9111 §4.2.3).
    let initialAge: Double
    let staleWhileRevalidate: Double
    let staleIfError: Double?
    /// Whether `immutable` applies, which requires that the response was authenticated (RFC 8246 §3).
    let isImmutable: Bool
    let hasQuery: Bool

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

        // §5.1: the first member counts; a value that is not a number is ignored.
        let ageValue = fields.firstValue(.age)?.listMembers.first.flatMap(DeltaSeconds.parse) ?? 0
        let apparentAge = max(0, responseTime - date)
        let responseDelay = max(0, responseTime - requestTime)
        initialAge = min(max(apparentAge, ageValue + responseDelay), DeltaSeconds.greatest)

        staleWhileRevalidate = cacheControl.staleWhileRevalidate?.inSeconds ?? 0
        staleIfError = cacheControl.staleIfError?.inSeconds
        isImmutable = cacheControl.immutable && url.prefix(8).lowercased() == "https://"
        hasQuery = url.utf8.contains(UInt8(ascii: "?"))
    }
}
