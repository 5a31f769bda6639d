/// Why a recording cannot be read or written.
public struct RecordingError: Error, Sendable, CustomStringConvertible {
    /// The sort of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name: short and stable.
        public let description: String

        /// The file cannot be opened or read.
        public static let unreadable = Code(description: "unreadable")
        /// The file cannot be written.
        public static let unwritable = Code(description: "unwritable")
        /// The file is neither HAR nor WARC.
        public static let unknownFormat = Code(description: "unknownFormat")
        /// The file, or a part of it that must be held in memory, is larger than the limit.
        public static let tooLarge = Code(description: "tooLarge")
        /// The file is no JSON.
        public static let damagedJSON = Code(description: "damagedJSON")
        /// The JSON is not HAR 1.1 to 1.3.
        public static let invalidHAR = Code(description: "invalidHAR")
        /// A WARC record begins with another version than 1.0 and 1.1, or with no version.
        public static let invalidVersion = Code(description: "invalidVersion")
        /// A line or field of a WARC record's header is not what ISO 28500 says.
        public static let invalidHeader = Code(description: "invalidHeader")
        /// A WARC record has no length, or one that is no number.
        public static let invalidLength = Code(description: "invalidLength")
        /// Something else than two line ends stands behind a WARC record.
        public static let invalidRecordEnd = Code(description: "invalidRecordEnd")
        /// The file ends within a record.
        public static let truncated = Code(description: "truncated")
        /// Compressed data are not valid, or are followed by something else.
        public static let damagedCompression = Code(description: "damagedCompression")
    }

    /// Where in a file something is wrong.
    public struct Position: Hashable, Sendable, CustomStringConvertible {
        /// The byte at which the record begins, in the file as it is without gzip.
        public let offset: Int
        /// The line of the record's header, from 1 on; nil when it is not the header that is wrong.
        public let line: Int?

        /// Such as `byte 1024, line 3 of the record`.
        public var description: String { "byte \(offset)" + (line.map { ", line \($0) of the record" } ?? "") }
    }

    /// The sort of failure.
    public let code: Code
    /// What was wrong, where, and what to do.
    public let message: String
    /// Where in the file, for formats of records.
    public let position: Position?
    /// The error beneath, if there was one.
    public let cause: (any Error)?

    init(_ code: Code, _ message: String, at position: Position? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = position.map { "\(message) (\($0))" } ?? message
        self.position = position
        self.cause = cause
    }

    /// Code, message and cause on one line.
    public var description: String { "\(code): \(message)" + (cause.map { " (\($0))" } ?? "") }
}
