/// Why a zip archive was refused or could not be read or written.
///
/// ``code`` is for programs, ``message`` is for people: it names the entry, says what is wrong, and what to do.
/// Failures of the disk are not told by this error but by what the source or the file system throws.
public struct ZipError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure.
    ///
    /// More kinds may be added later.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name: short and stable.
        public let description: String
    }

    /// The kind of failure.
    public let code: Code
    /// The entry that is at fault, as far as its name could be read; `nil` when it is the archive as a whole.
    public let entry: String?
    /// What was wrong, where, and what to do.
    public let message: String

    init(_ code: Code, entry: String? = nil, _ message: String) {
        self.code = code
        self.entry = entry
        self.message = entry.map { "entry '\(Self.printable($0))' \(message)" } ?? message
    }

    /// Code and message.
    public var description: String { "\(code): \(message)" }

    /// A name from outside in a form that cannot mislead a reader or a terminal: control and formatting characters
    /// escaped, and not endless.
    private static func printable(_ name: String) -> String {
        var text = ""
        for scalar in name.unicodeScalars.prefix(200) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .unassigned, .privateUse:
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return name.unicodeScalars.count > 200 ? text + "…" : text
    }
}

/// The archive as a whole.
extension ZipError.Code {
    /// There is no end record: this is no zip archive, or its end is missing.
    public static let notAnArchive = Self(description: "notAnArchive")
    /// Two end records claim the archive, so that two readers would see two different archives.
    public static let ambiguousEnd = Self(description: "ambiguousEnd")
    /// The end records or the central directory contradict themselves.
    public static let damagedDirectory = Self(description: "damagedDirectory")
    /// A zip64 record or field is missing, has the wrong length, or contradicts the fields it extends.
    public static let invalidZip64 = Self(description: "invalidZip64")
    /// The archive is one of several parts.
    public static let multipleDisks = Self(description: "multipleDisks")
    /// There are bytes ahead of the first entry that belong to nothing.
    public static let leadingJunk = Self(description: "leadingJunk")
    /// There are bytes between entries that belong to nothing.
    public static let junkBetweenEntries = Self(description: "junkBetweenEntries")
    /// There are bytes behind the end record that belong to nothing.
    public static let trailingJunk = Self(description: "trailingJunk")
}

/// Names of entries.
extension ZipError.Code {
    /// A name is empty.
    public static let emptyName = Self(description: "emptyName")
    /// A name that should be UTF-8 is not.
    public static let invalidUTF8 = Self(description: "invalidUTF8")
    /// A name starts with a slash.
    public static let absolutePath = Self(description: "absolutePath")
    /// A name has a `.` or `..` segment, perhaps with characters in it that are not shown.
    public static let dotSegment = Self(description: "dotSegment")
    /// A name has two slashes in a row.
    public static let emptySegment = Self(description: "emptySegment")
    /// A name starts with a drive letter.
    public static let driveLetter = Self(description: "driveLetter")
    /// A name has a backslash.
    public static let backslash = Self(description: "backslash")
    /// A name has a NUL or another control character.
    public static let controlCharacter = Self(description: "controlCharacter")
    /// A name or a segment of it is longer than the limit.
    public static let nameTooLong = Self(description: "nameTooLong")
    /// A name has more segments than the limit.
    public static let tooDeep = Self(description: "tooDeep")
    /// Two names are equal, or differ only in case, in their Unicode form, or in characters that are not shown.
    public static let nameCollision = Self(description: "nameCollision")
    /// A file's name is also the directory of another entry.
    public static let fileIsDirectory = Self(description: "fileIsDirectory")
}

/// What an entry is.
extension ZipError.Code {
    /// An entry is a symbolic link.
    public static let symbolicLink = Self(description: "symbolicLink")
    /// An entry is neither a file nor a directory: a device, or a pipe or socket without contents.
    public static let specialFile = Self(description: "specialFile")
    /// The name says directory and the attributes say file, or the other way around, or a directory has contents.
    public static let kindMismatch = Self(description: "kindMismatch")
    /// An entry or the directory is encrypted.
    public static let encrypted = Self(description: "encrypted")
    /// An entry is compressed with a method other than stored (0) and deflated (8).
    public static let unsupportedMethod = Self(description: "unsupportedMethod")
    /// An entry has a flag set that changes how it must be read and that is not known.
    public static let unsupportedFlags = Self(description: "unsupportedFlags")
    /// An entry's extra fields do not fit their length.
    public static let damagedExtraField = Self(description: "damagedExtraField")
}

/// Where an entry lies.
extension ZipError.Code {
    /// An entry lies outside the file.
    public static let outsideFile = Self(description: "outsideFile")
    /// An entry overlaps another one or the directory.
    public static let overlap = Self(description: "overlap")
    /// There is no local header where the directory says.
    public static let missingLocalHeader = Self(description: "missingLocalHeader")
    /// Local header and directory do not say the same.
    public static let headerMismatch = Self(description: "headerMismatch")
    /// The descriptor behind an entry's data is missing or does not say the same as the directory.
    public static let descriptorMismatch = Self(description: "descriptorMismatch")
}

/// Limits.
extension ZipError.Code {
    /// There are more entries and directories than the limit.
    public static let tooManyEntries = Self(description: "tooManyEntries")
    /// An entry is larger than the limit.
    public static let entryTooLarge = Self(description: "entryTooLarge")
    /// All entries together are larger than the limit.
    public static let archiveTooLarge = Self(description: "archiveTooLarge")
    /// The contents are more times larger than their compressed form than the limit.
    public static let ratioTooHigh = Self(description: "ratioTooHigh")
}

/// Contents of entries, and work.
extension ZipError.Code {
    /// Compressed data are not valid, or do not end where they should.
    public static let damagedData = Self(description: "damagedData")
    /// Contents are longer or shorter than stated.
    public static let sizeMismatch = Self(description: "sizeMismatch")
    /// Contents do not have the stated CRC-32.
    public static let checksumMismatch = Self(description: "checksumMismatch")
    /// The source ended before its length.
    public static let truncatedSource = Self(description: "truncatedSource")
    /// What was read to be written into an archive changed meanwhile.
    public static let sourceChanged = Self(description: "sourceChanged")
    /// The directory to extract into exists and is not empty, or is not a directory.
    public static let targetNotFresh = Self(description: "targetNotFresh")
    /// The archive was finished, or failed, and takes no more entries.
    public static let writerClosed = Self(description: "writerClosed")
    /// zlib has no memory.
    public static let outOfMemory = Self(description: "outOfMemory")
}
