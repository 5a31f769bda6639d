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
        /// The place of the exchange in the recording.
        public let place: Place
        /// The URL as it was recorded; empty if the exchange has none.
        public let url: String
        /// The kind of reason.
        public let reason: Reason
        /// The reason as text.
        public let detail: String
    }

    /// The place of an exchange in its recording.
    public struct Place: Hashable, Sendable, CustomStringConvertible {
        /// The number of the entry of a HAR, or of the record of a WARC, from 1.
        public let number: Int
        /// The position of its first byte in the file, counted after decompression; nil if the recording was not read from
        /// a file.
        public let offset: Int?

        /// The place as text, such as `no. 3, byte 1024`.
        public var description: String { "no. \(number)" + (offset.map { ", byte \($0)" } ?? "") }
    }

    /// A deviation from the format that was read over.
    public struct Warning: Hashable, Sendable, CustomStringConvertible {
        /// The position of the byte that the warning is about, counted after decompression; nil if the warning names a byte
        /// of the compressed file.
        public let offset: Int?
        /// The deviation as text.
        public let detail: String

        /// The warning as text, such as `byte 661: one line end follows the record, not two`.
        public var description: String { (offset.map { "byte \($0): " } ?? "") + detail }
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
        /// The entry of a HAR is not valid JSON, or has no request with a method and a URL.
        public static let damagedEntry = Reason(description: "damagedEntry")
        /// The record has no valid HTTP response.
        public static let damagedHead = Reason(description: "damagedHead")
        /// The body has a content coding whose library is not installed, or too many codings.
        public static let contentCoding = Reason(description: "contentCoding")
        /// The body has a transfer coding other than chunked.
        public static let transferCoding = Reason(description: "transferCoding")
        /// The body is larger than the limit for reading, or than the cache keeps.
        public static let tooLarge = Reason(description: "tooLarge")
        /// The record refers to another one whose body is missing.
        public static let revisit = Reason(description: "revisit")
        /// The cache has a newer response; of an import, the newest capture of a URL counts.
        public static let older = Reason(description: "older")
        /// The response is older than the cache keeps; see ``ImportOptions/time``.
        public static let tooOld = Reason(description: "tooOld")
    }

    /// The exchanges that were stored, in the order of the recording; of several responses for one URL, the newest one
    /// counts, and of those without a date the last one.
    public internal(set) var imported: [Imported] = []
    /// The exchanges that are not stored, and the reasons.
    public internal(set) var skipped: [Skipped] = []
    /// Deviations from the format that were read over; the first 1,000 of them.
    public internal(set) var warnings: [Warning] = []

    init() {}

    /// A summary in one line, for a log.
    public var description: String {
        let counts = "\(imported.count) imported, \(skipped.count) skipped"
        return warnings.isEmpty ? counts : "\(counts), \(warnings.count) warnings"
    }
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
