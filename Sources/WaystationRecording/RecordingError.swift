import Foundation
public import WaystationHTTP

@_exported public import protocol WaystationHTTP.CodedError

/// An error that says why a recording cannot be read or written.
public struct RecordingError: CodedError {
    /// The kind of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name, short and stable.
        public let description: String

        /// The file cannot be opened or read.
        public static let unreadable = Code(description: "unreadable")
        /// The file cannot be written.
        public static let unwritable = Code(description: "unwritable")
        /// The file is neither HAR nor WARC nor WACZ.
        public static let unknownFormat = Code(description: "unknownFormat")
        /// The file, or a part of it that must be held in memory, is larger than the limit.
        public static let tooLarge = Code(description: "tooLarge")
        /// The file is not valid JSON, and the ends of its entries cannot be found.
        public static let damagedJSON = Code(description: "damagedJSON")
        /// The JSON is not HAR 1.1 to 1.3, or ``HARArchive`` cannot read one of its entries.
        public static let invalidHAR = Code(description: "invalidHAR")
        /// A WARC record begins with a version other than 0.17 to 1.1, or with no version.
        public static let invalidVersion = Code(description: "invalidVersion")
        /// A line or field of a WARC record's header does not follow ISO 28500.
        public static let invalidHeader = Code(description: "invalidHeader")
        /// A WARC record has no length, or one that is not a number.
        public static let invalidLength = Code(description: "invalidLength")
        /// A WARC record is followed by something other than line ends, padding or a record.
        public static let invalidRecordEnd = Code(description: "invalidRecordEnd")
        /// The file ends within a record.
        public static let truncated = Code(description: "truncated")
        /// The file is compressed as a whole, so that a web archive cannot read its records by their places.
        public static let notSeekable = Code(description: "notSeekable")
        /// None of the captures that a web archive has of a URL can be read.
        public static let unusableCapture = Code(description: "unusableCapture")
        /// Compressed data are not valid, or other data follow them.
        public static let damagedCompression = Code(description: "damagedCompression")
        /// The zip of a WACZ is damaged, or is not one that can be read.
        public static let damagedZip = Code(description: "damagedZip")
    }

    /// The position of an error in a file.
    public struct Position: Hashable, Sendable, CustomStringConvertible {
        /// The position of the record's first byte, counted after decompression.
        public let offset: Int
        /// The line of the record's header, from 1; nil when the error is not in the header.
        public let line: Int?

        /// The position as text, such as `byte 1024, line 3 of the record`.
        public var description: String { "byte \(offset)" + (line.map { ", line \($0) of the record" } ?? "") }
    }

    /// The kind of failure.
    public let code: Code
    /// A sentence that says what was wrong, where, and what to do.
    public let message: String
    /// The position in the file, for formats with records.
    public let position: Position?
    /// The underlying error, if there was one.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, at position: Position? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = (position.map { "\(message) (\($0))" } ?? message).shown(upTo: 2_000)
        self.position = position
        self.cause = cause
    }
}

/// The version of this package, for the tool's `--version` and for the creator in recordings.
package enum SoftwareVersion {
    /// The newest version in CHANGELOG.md.
    ///
    /// Tests compare it with the change log and with the documents.
    package static let current = "0.1.0"
    /// The name and the version, as files name the program that wrote them.
    package static let product = "Waystation/\(current)"
}

extension RecordingError {
    /// The error for a file of another format.
    static func unknownFormat(_ file: URL) -> RecordingError {
        RecordingError(
            .unknownFormat,
            "\(file.path) is neither HAR (JSON) nor WARC nor WACZ: decompress it if it is compressed by another program than gzip and zstd"
        )
    }
}
