public import WaystationHTTP

/// Converts a percent-encoded URL path to names, or gives the reason why the path is refused.
///
/// The conversion uses only the text and never reads a disk. The names are exact bytes. Names are not case-folded or
/// normalised: a name in another case or another Unicode form is another name. `C:`, `~`, `...` and names that begin
/// with a dot are ordinary names on Linux.
public enum OfflinePath {
    /// The maximum number of bytes in one name (`NAME_MAX`).
    public static let maximumNameLength = 255
    /// The maximum number of bytes in the names and the slashes between them (`PATH_MAX`).
    public static let maximumLength = 4096

    /// Decodes a path once and splits it into names.
    ///
    /// One slash at the start and one at the end are ignored, so `""` and `"/"` are the root, with no names. Escapes
    /// are decoded exactly once (RFC 3986 section 2.4): `%252e` is the name `%2e`. Letters outside ASCII may also occur
    /// unescaped.
    ///
    /// - Complexity: O(*n*) in the length of the path; it stops at the first fault.
    public static func components(of percentEncodedPath: String) -> Result<[String], PathRefusal> {
        var splitter = Splitter()
        for byte in percentEncodedPath.utf8 {
            splitter.take(byte)
            if splitter.fault != nil { break }
        }
        splitter.finish()
        if let reason = splitter.fault {
            return .failure(PathRefusal(code: reason, path: percentEncodedPath))
        }
        return .success(splitter.names)
    }

    /// Percent-encodes one name as a path segment: all bytes but `pchar` (RFC 3986 section 3.3) are escaped.
    package static func encoded(_ name: String) -> String {
        plain(String(decoding: name.utf8.percentEncoded, as: UTF8.self))
    }

    /// The same path or URL, in which each of ``plainCharacters`` stands for itself.
    ///
    /// Browsers send `/@scope/a.js`, and other clients may send `/%40scope/a.js`: both name the same file.
    package static func plain(_ text: String) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return text }
        let bytes = Array(text.utf8)
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var index = 0
        while index < bytes.count {
            if let character = percentDecodedByte(bytes, at: index, end: bytes.count),
                plainCharacters.contains(character)
            {
                plain.append(character)
                index += 3
            } else {
                plain.append(bytes[index])
                index += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The characters of a path segment that need no escape, but may have one.
    private static let plainCharacters = Set("!$&'()*+,;=:@".utf8)
}

/// Decodes and splits a path byte by byte; stops at the first fault.
private struct Splitter {
    private(set) var names: [String] = []
    private(set) var fault: PathRefusal.Code?
    private var name: [UInt8] = []
    private var length = 0
    private var escape: Escape = .none
    private var isAtStart = true

    private enum Escape: Equatable {
        case none
        case percent
        case high(UInt8)
    }

    mutating func take(_ byte: UInt8) {
        defer { isAtStart = false }
        switch escape {
        case .none:
            switch byte {
            case UInt8(ascii: "%"): escape = .percent
            case UInt8(ascii: "/"): if !isAtStart { endName() }
            case UInt8(ascii: "?"), UInt8(ascii: "#"): fault = .undelimited
            default: append(byte)
            }
        case .percent:
            guard let digit = byte.hexadecimalDigit else { return fault = .invalidEscape }
            escape = .high(digit)
        case .high(let high):
            guard let digit = byte.hexadecimalDigit else { return fault = .invalidEscape }
            escape = .none
            let decoded = high << 4 | digit
            guard decoded != UInt8(ascii: "/") else { return fault = .encodedSlash }
            append(decoded)
        }
    }

    mutating func finish() {
        guard fault == nil else { return }
        guard escape == .none else { return fault = .invalidEscape }
        if !name.isEmpty { endName() }
    }

    private mutating func append(_ byte: UInt8) {
        switch byte {
        case 0: fault = .nul
        case 1..<0x20, 0x7F: fault = .controlCharacter
        case UInt8(ascii: "\\"): fault = .backslash
        default:
            name.append(byte)
            length += 1
            if name.count > OfflinePath.maximumNameLength || length > OfflinePath.maximumLength { fault = .tooLong }
        }
    }

    private mutating func endName() {
        guard !name.isEmpty else { return fault = .emptySegment }
        guard name != [UInt8(ascii: ".")], name != [UInt8(ascii: "."), UInt8(ascii: ".")] else {
            return fault = .dotSegment
        }
        guard let text = String(validating: name, as: UTF8.self) else { return fault = .invalidUTF8 }
        // C1 control characters are two bytes in UTF-8, so they can only be found after decoding.
        guard !text.unicodeScalars.contains(where: { (0x80..<0xA0).contains($0.value) }) else {
            return fault = .controlCharacter
        }
        names.append(text)
        name.removeAll(keepingCapacity: true)
        length += 1
    }
}

/// Why a path is never served, whatever the directory contains.
public struct PathRefusal: CodedError, Hashable {
    /// The rule that the path broke.
    ///
    /// More rules may be added later.
    public struct Code: Sendable, Hashable, CustomStringConvertible {
        private enum Value: String {
            case dotSegment, emptySegment, nul, controlCharacter, backslash, encodedSlash
            case invalidEscape, invalidUTF8, undelimited, tooLong, symbolicLink, notARegularFile
        }
        private let value: Value

        /// A `.` or `..` segment in any spelling (`%2e%2E`, `.%2e`).
        public static let dotSegment = Code(value: .dotSegment)
        /// Two slashes in a row; each file has only one path.
        public static let emptySegment = Code(value: .emptySegment)
        /// A NUL byte (`%00`), which would end the name early for the system.
        public static let nul = Code(value: .nul)
        /// A control character: U+0001 to U+001F, U+007F to U+009F.
        public static let controlCharacter = Code(value: .controlCharacter)
        /// A backslash, which other systems use as a separator.
        public static let backslash = Code(value: .backslash)
        /// An escaped slash inside a segment (`%2F`).
        public static let encodedSlash = Code(value: .encodedSlash)
        /// A `%` that is not followed by two hexadecimal digits.
        public static let invalidEscape = Code(value: .invalidEscape)
        /// Bytes that are not valid UTF-8 after decoding, such as overlong forms and surrogates.
        public static let invalidUTF8 = Code(value: .invalidUTF8)
        /// A literal `?` or `#`: the text after it is a query or a fragment, not part of the path.
        public static let undelimited = Code(value: .undelimited)
        /// A name over 255 bytes or a path over 4096 bytes after decoding.
        public static let tooLong = Code(value: .tooLong)
        /// A component is a symbolic link; links are never followed.
        public static let symbolicLink = Code(value: .symbolicLink)
        /// The object at the path is a FIFO, a socket or a device; only regular files are served.
        public static let notARegularFile = Code(value: .notARegularFile)

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
    public let code: Code
    /// The path as it was requested.
    public let path: String

    /// The problem, with the path in printable form.
    public var message: String {
        "refused '\(path.shown(upTo: 200))': \(code.explanation)"
    }

    /// The message, which says what ``code`` means.
    public var description: String { message }
}
