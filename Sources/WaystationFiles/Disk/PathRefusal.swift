import WaystationFields

/// Why a path is never served, whatever the directory contains.
public struct PathRefusal: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that the path broke.
    ///
    /// More rules may be added later.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case dotSegment, emptySegment, nul, controlCharacter, backslash, encodedSlash
            case invalidEscape, invalidUTF8, undelimited, tooLong, symbolicLink, notARegularFile
        }
        private let value: Value

        /// A `.` or `..` segment in any spelling (`%2e%2E`, `.%2e`).
        public static let dotSegment = Reason(value: .dotSegment)
        /// Two slashes in a row; each file has only one path.
        public static let emptySegment = Reason(value: .emptySegment)
        /// A NUL byte (`%00`), which would end the name early for the system.
        public static let nul = Reason(value: .nul)
        /// A control character: U+0001 to U+001F, U+007F to U+009F.
        public static let controlCharacter = Reason(value: .controlCharacter)
        /// A backslash, which other systems use as a separator.
        public static let backslash = Reason(value: .backslash)
        /// An escaped slash inside a segment (`%2F`).
        public static let encodedSlash = Reason(value: .encodedSlash)
        /// A `%` that is not followed by two hexadecimal digits.
        public static let invalidEscape = Reason(value: .invalidEscape)
        /// Bytes that are not valid UTF-8 after decoding, such as overlong forms and surrogates.
        public static let invalidUTF8 = Reason(value: .invalidUTF8)
        /// A literal `?` or `#`: the text after it is a query or a fragment, not part of the path.
        public static let undelimited = Reason(value: .undelimited)
        /// A name over 255 bytes or a path over 4096 bytes after decoding.
        public static let tooLong = Reason(value: .tooLong)
        /// A component is a symbolic link; links are never followed.
        public static let symbolicLink = Reason(value: .symbolicLink)
        /// The object at the path is a FIFO, a socket or a device; only regular files are served.
        public static let notARegularFile = Reason(value: .notARegularFile)

        /// A short stable name, for logs and metrics.
        public var description: String { value.rawValue }

        fileprivate var explanation: String {
            switch value {
            case .dotSegment: "the path has a '.' or '..' segment; resolve dot segments before the request"
            case .emptySegment: "the path has an empty segment; write one slash between names"
            case .nul: "the path has a NUL byte"
            case .controlCharacter: "the path has a control character"
            case .backslash: "the path has a backslash; separate names with '/'"
            case .encodedSlash: "the path has an escaped slash (%2F); separate names with '/'"
            case .invalidEscape:
                "the path has a '%' without two hexadecimal digits; write a literal percent sign as %25"
            case .invalidUTF8: "the decoded bytes are not valid UTF-8"
            case .undelimited: "the path has a '?' or '#'; split off query and fragment, or escape them as %3F and %23"
            case .tooLong:
                "a name is over \(OfflinePath.maximumNameLength) bytes, or the path over \(OfflinePath.maximumLength)"
            case .symbolicLink: "the path passes through a symbolic link; put the file itself there"
            case .notARegularFile: "the file is a FIFO, a socket or a device; only regular files are served"
            }
        }
    }

    /// The rule that the path broke.
    public let reason: Reason
    /// The path as it was requested.
    public let path: String

    /// The problem, with the path in printable form.
    public var description: String {
        "refused '\(path.shown(upTo: 200))': \(reason.explanation)"
    }
}
