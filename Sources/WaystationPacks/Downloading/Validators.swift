import HTTPTypes
import WaystationFields

/// What tells one representation of a file on a server from another, strictly enough to join two parts of it.
struct Validators: Hashable, Codable, Sendable {
    /// A strong entity tag, with its quotes.
    var entityTag: String?
    /// `Last-Modified`, where it can count as strong.
    var lastModified: String?

    /// The validators of a response that may be used with ranges (RFC 9110 §13.1.5).
    ///
    /// A weak tag says that two representations mean the same, not that they have the same bytes, so it is left out. A
    /// date is one of whole seconds, and counts only when the response was made at least a second later (§8.8.2.2): else
    /// the file may have changed once more within that second.
    init(_ fields: HTTPFields) {
        // No longer than anyone needs.
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
        // Only the two-digit years of an obsolete form depend on the present; any will do to compare two of them.
        HTTPDate(text, now: HTTPDate(nearestTo: 1_767_225_600))
    }

    /// The value for `If-Range`; nil when there is nothing to tell by.
    var condition: String? { entityTag ?? lastModified }

    /// Whether a part with these validators may belong to another representation than the earlier ones.
    func contradicts(_ earlier: Validators) -> Bool {
        if let entityTag, let known = earlier.entityTag { return entityTag != known }
        if entityTag == nil, earlier.entityTag == nil, let lastModified, let known = earlier.lastModified {
            return lastModified != known
        }
        return false
    }
}
