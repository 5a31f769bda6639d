import WaystationHTTP

/// The result of an import: what happened to each exchange of a recording.
public struct ImportReport: Sendable, CustomStringConvertible {
    /// An exchange whose response is now in the cache.
    public struct Imported: Hashable, Sendable {
        /// The canonical URL that the response answers.
        public let url: String
        /// The status of the response.
        public let status: Int
        /// The size of the body without content coding, in bytes.
        public let bytes: Int
    }

    /// An exchange that was not imported.
    public struct Skipped: Hashable, Sendable {
        /// The URL as it was recorded.
        public let url: String
        /// The kind of reason.
        public let reason: Reason
        /// The reason as text.
        public let detail: String
    }

    /// The kind of reason why an exchange is not imported.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The reason's name: short and stable.
        public let description: String

        /// The URL is not valid, or is neither http nor https.
        public static let url = Reason(description: "url")
        /// The method is not GET; responses to other methods cannot answer later requests.
        public static let method = Reason(description: "method")
        /// The status is not one that is stored, or there was no response.
        public static let status = Reason(description: "status")
        /// The request or the response has `no-store`; see ``ImportOptions/includesNoStore``.
        public static let noStore = Reason(description: "noStore")
        /// Another caching rule refuses the response.
        public static let notStorable = Reason(description: "notStorable")
        /// The response depends on a request field or on credentials that are redacted in the recording.
        public static let redacted = Reason(description: "redacted")
        /// The recording does not have the body.
        public static let noBody = Reason(description: "noBody")
        /// The recording has only a part of the body.
        public static let incomplete = Reason(description: "incomplete")
        /// The body does not fit its coding or its digest.
        public static let damagedBody = Reason(description: "damagedBody")
        /// The record has no valid HTTP response.
        public static let damagedHead = Reason(description: "damagedHead")
        /// The body has a content coding other than gzip and deflate.
        public static let contentCoding = Reason(description: "contentCoding")
        /// The body has a transfer coding other than chunked.
        public static let transferCoding = Reason(description: "transferCoding")
        /// The body is larger than the limit for reading, or than the cache keeps.
        public static let tooLarge = Reason(description: "tooLarge")
        /// The record refers to another one whose body is missing.
        public static let revisit = Reason(description: "revisit")
        /// The response is older than the cache keeps; see ``ImportOptions/time``.
        public static let tooOld = Reason(description: "tooOld")
    }

    /// The exchanges that are now stored, in the order of the recording; of several responses for one URL, the last one
    /// counts.
    public internal(set) var imported: [Imported] = []
    /// The exchanges that are not stored, and the reasons.
    public internal(set) var skipped: [Skipped] = []

    init() {}

    /// A summary in one line, for a log.
    public var description: String { "\(imported.count) imported, \(skipped.count) skipped" }
}

/// The reason why one exchange is not imported.
package struct ImportRefusal: Error {
    let reason: ImportReport.Reason
    package let detail: String

    init(_ reason: ImportReport.Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail.shown(upTo: 1_000)
    }
}
