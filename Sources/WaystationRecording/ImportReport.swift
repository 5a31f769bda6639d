/// What became of each exchange of a recording.
public struct ImportReport: Sendable, CustomStringConvertible {
    /// An exchange whose response is in the cache now.
    public struct Imported: Hashable, Sendable {
        /// The canonical URL that it answers.
        public let url: String
        /// The status of the response.
        public let status: Int
        /// How many bytes its body has, without content coding.
        public let bytes: Int
    }

    /// An exchange that was left out.
    public struct Skipped: Hashable, Sendable {
        /// The URL as it was recorded.
        public let url: String
        /// The sort of reason.
        public let reason: Reason
        /// The reason in words.
        public let detail: String
    }

    /// Why an exchange is left out.
    public struct Reason: Hashable, Sendable, CustomStringConvertible {
        /// The reason's name: short and stable.
        public let description: String

        /// The URL is none, or neither http nor https.
        public static let url = Reason(description: "url")
        /// Responses to other methods than GET answer nothing later.
        public static let method = Reason(description: "method")
        /// The status is not of those that are stored, or there was no response.
        public static let status = Reason(description: "status")
        /// Request or response says `no-store`; see ``ImportOptions/includesNoStore``.
        public static let noStore = Reason(description: "noStore")
        /// The rules of caching refuse it otherwise.
        public static let notStorable = Reason(description: "notStorable")
        /// It was chosen by a request field, or asked for with credentials, that the recording does not show.
        public static let redacted = Reason(description: "redacted")
        /// The recording does not have the body.
        public static let noBody = Reason(description: "noBody")
        /// The recording has a part of the body.
        public static let incomplete = Reason(description: "incomplete")
        /// The body contradicts its coding or its digest.
        public static let damagedBody = Reason(description: "damagedBody")
        /// The record holds no HTTP response.
        public static let damagedHead = Reason(description: "damagedHead")
        /// The body has a content coding other than gzip and deflate.
        public static let contentCoding = Reason(description: "contentCoding")
        /// The body has a transfer coding other than chunked.
        public static let transferCoding = Reason(description: "transferCoding")
        /// The body is larger than what is read, or than what the cache keeps.
        public static let tooLarge = Reason(description: "tooLarge")
        /// The record refers to another one whose body is not there.
        public static let revisit = Reason(description: "revisit")
        /// It is older than what the cache keeps; see ``ImportOptions/time``.
        public static let tooOld = Reason(description: "tooOld")
    }

    /// What is stored now, in the order of the recording; of one URL's responses the last one counts.
    public internal(set) var imported: [Imported] = []
    /// What is not, and why.
    public internal(set) var skipped: [Skipped] = []

    init() {}

    /// One line for a log.
    public var description: String { "\(imported.count) imported, \(skipped.count) skipped" }
}

/// Why one exchange is not imported.
struct ImportRefusal: Error {
    let reason: ImportReport.Reason
    let detail: String

    init(_ reason: ImportReport.Reason, _ detail: String) {
        self.reason = reason
        self.detail = detail
    }
}
