import HTTPTypes
import WaystationFields

/// The validators that distinguish one representation of a file from another, strictly enough to join two parts of it.
struct Validators: Hashable, Codable, Sendable {
    /// A strong entity tag, with its quotes.
    var entityTag: String?
    /// `Last-Modified`, if it counts as a strong validator.
    var lastModified: String?

    /// Reads the validators of a response that may be used with ranges (RFC 9110 §13.1.5).
    ///
    /// A weak tag says that two representations are equivalent, not that they have the same bytes, so it is left out. A
    /// date has a resolution of one second, and counts only when the response was made at least one second later
    /// (§8.8.2.2); otherwise the file may have changed again within that second.
    init(_ fields: HTTPFields) {
        // A tag longer than 1024 bytes is left out, so that the record stays small.
        if let text = fields[.eTag], text.utf8.count <= 1024, let tag = EntityTag(text), !tag.isWeak {
            entityTag = tag.fieldValue
        }
        if let text = fields[.lastModified], let modified = Self.date(text),
            let date = fields[.date].flatMap(Self.date),
            date.secondsSinceEpoch - modified.secondsSinceEpoch >= 1
        {
            lastModified = text
        }
    }

    private static func date(_ text: String) -> HTTPDate? {
        // The present matters only for the two-digit years of an obsolete date format; any value will do to compare two
        // dates.
        HTTPDate(text, now: HTTPDate(nearestTo: 1_767_225_600))
    }

    /// The value for `If-Range`; nil when there is no validator.
    var condition: String? { entityTag ?? lastModified }

    /// Whether these validators show that a part belongs to another representation than the earlier parts.
    func contradicts(_ earlier: Validators) -> Bool {
        if let entityTag, let known = earlier.entityTag { return entityTag != known }
        if entityTag == nil, earlier.entityTag == nil, let lastModified, let known = earlier.lastModified {
            return lastModified != known
        }
        return false
    }
}
