package import HTTPTypes
package import WaystationFields

/// The result of a request's conditional fields for a file that exists (RFC 9110 section 13.2.2).
package enum Precondition: Sendable, Equatable {
    /// Continue as if there were no conditions, with or without the `Range` field.
    case proceed(honoursRange: Bool)
    /// Answer 304.
    case notModified
    /// Answer 412.
    case failed

    /// Evaluates the fields of a GET or HEAD in the order of section 13.2.2.
    ///
    /// An invalid date is ignored; an invalid list of tags matches nothing.
    package init(_ fields: HTTPFields, entityTag: EntityTag, lastModified: HTTPDate?, now: HTTPDate) {
        // 1 and 2
        if let value = fields[.ifMatch] {
            guard let list = EntityTagList(value), list.stronglyMatches(entityTag) else {
                self = .failed
                return
            }
        } else if let date = HTTPDate(fields[.ifUnmodifiedSince], now: now), let lastModified, lastModified > date {
            self = .failed
            return
        }
        // 3 and 4
        if let value = fields[.ifNoneMatch] {
            if let list = EntityTagList(value), list.weaklyMatches(entityTag) {
                self = .notModified
                return
            }
        } else if let date = HTTPDate(fields[.ifModifiedSince], now: now), let lastModified, lastModified <= date {
            self = .notModified
            return
        }
        // 5
        guard let value = fields[.ifRange] else {
            self = .proceed(honoursRange: true)
            return
        }
        if let tag = EntityTag(value) {
            self = .proceed(honoursRange: entityTag.stronglyMatches(tag))
        } else if let date = HTTPDate(value, now: now), let lastModified {
            // Section 13.1.5: an exact match. Section 8.8.2.2: the date is weak until the second that it names is over.
            self = .proceed(honoursRange: date == lastModified && lastModified < now)
        } else {
            self = .proceed(honoursRange: false)
        }
    }
}

extension HTTPDate {
    fileprivate init?(_ value: String?, now: HTTPDate) {
        guard let value else { return nil }
        self.init(value, now: now)
    }
}
