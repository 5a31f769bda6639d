import Foundation
import HTTPTypes
import WaystationFields

/// What the decisions need to know of a stored response, read once, so that each of them is arithmetic.
final class ResponseFacts: Sendable {
    /// A freshness lifetime in seconds, and where it comes from.
    struct Lifetime: Hashable, Sendable {
        var seconds: Double
        var basis: Freshness.Basis
    }

    let cacheControl: CacheControl
    let entityTag: EntityTag?
    /// `Last-Modified`, where it is valid.
    let lastModified: HTTPDate?
    /// `Last-Modified` as received, to be sent back to the letter.
    let lastModifiedText: String?
    /// `Date` in seconds since 1970, or the time of receipt where there is none (RFC 9110 §6.6.1).
    let date: Double
    /// What the origin says, in seconds, and where it says so; nil when it says nothing (RFC 9111 §4.2.1).
    let explicitLifetime: Lifetime?
    /// The time from `Last-Modified` to `Date`, where heuristics may apply but for the status code (RFC 9111 §4.2.2).
    let heuristicSpan: Double?
    /// Whether `public` or `private` marks the response as storable whatever its status code.
    let isMarkedStorable: Bool
    /// corrected_initial_age (RFC 9111 §4.2.3).
    let initialAge: Double
    let staleWhileRevalidate: Double
    let staleIfError: Double?
    /// `immutable` counts, because the exchange was authenticated (RFC 8246 §3).
    let isImmutable: Bool
    let hasQuery: Bool

    init(_ response: HTTPResponse, url: String, requestTime: Double, responseTime: Double) {
        let fields = response.headerFields
        let received = HTTPDate(nearestTo: responseTime)
        let date = fields.firstValue(.date).flatMap { HTTPDate(cached: $0, now: received) }?.moment ?? responseTime
        self.date = date
        cacheControl = CacheControl(fields)
        entityTag = fields.firstValue(.eTag).flatMap { EntityTag($0) }
        let modifiedText = fields.firstValue(.lastModified)
        lastModified = modifiedText.flatMap { HTTPDate(cached: $0, now: received) }
        lastModifiedText = lastModified == nil ? nil : modifiedText

        if let maxAge = cacheControl.maxAge {
            explicitLifetime = Lifetime(seconds: maxAge.inSeconds, basis: .maxAge)
        } else if let expires = fields.firstValue(.expires) {
            // §5.3: what is no date has already expired.
            let expiry = HTTPDate(cached: expires, now: received)?.moment ?? date
            let seconds = min(max(expiry - date, 0), DeltaSeconds.greatest)
            explicitLifetime = Lifetime(seconds: seconds, basis: .expires)
        } else {
            explicitLifetime = nil
        }
        heuristicSpan = lastModified.map { date - $0.moment }.flatMap { $0 > 0 ? $0 : nil }
        isMarkedStorable = cacheControl.isPublic || cacheControl.private == .response

        // §5.1: the first member counts; what is no number is ignored.
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
