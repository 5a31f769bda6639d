public import WaystationHTTP

/// An error that says why a zip archive was refused, or could not be read or written.
///
/// ``code`` is for programs, ``message`` is for people: it names the entry, says what is wrong, and what to do. For
/// failures of the disk, the source's or the file system's error is thrown instead.
public struct ZipError: CodedError {
    /// The kind of failure.
    ///
    /// More kinds may be added later.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name: short and stable.
        public let description: String
    }

    /// The kind of failure.
    public let code: Code
    /// The faulty entry, as far as its name could be read; `nil` when the fault is in the archive as a whole.
    public let entry: String?
    /// A sentence that says what was wrong, where, and what to do.
    public let message: String

    init(_ code: Code, entry: String? = nil, _ message: String) {
        self.code = code
        self.entry = entry
        self.message = (entry.map { "entry '\($0.shown(upTo: 200))' \(message)" } ?? message).shown(upTo: 2_000)
    }
}

/// Codes for the archive as a whole.
extension ZipError.Code {
    /// There is no end record: the file is not a zip archive, or its end is missing.
    public static let notAnArchive = Self(description: "notAnArchive")
    /// There are two end records, so that two readers would see two different archives.
    public static let ambiguousEnd = Self(description: "ambiguousEnd")
    /// The end records or the central directory contradict themselves.
    public static let damagedDirectory = Self(description: "damagedDirectory")
    /// A zip64 record or field is missing, has the wrong length, or contradicts the fields it extends.
    public static let invalidZip64 = Self(description: "invalidZip64")
    /// The archive is one of several parts.
    public static let multipleDisks = Self(description: "multipleDisks")
    /// There are bytes before the first entry in which a reader could find another archive.
    public static let leadingJunk = Self(description: "leadingJunk")
    /// There are bytes between entries, or ahead of the directory, in which a reader could find another archive.
    public static let junkBetweenEntries = Self(description: "junkBetweenEntries")
    /// There are bytes after the end record in which a reader could find another archive.
    public static let trailingJunk = Self(description: "trailingJunk")
}

/// Codes for the names of entries.
extension ZipError.Code {
    /// A name is empty.
    public static let emptyName = Self(description: "emptyName")
    /// A name should be UTF-8 but is not.
    public static let invalidUTF8 = Self(description: "invalidUTF8")
    /// A name starts with a slash.
    public static let absolutePath = Self(description: "absolutePath")
    /// A name has a `..` segment, ends in a `.` segment, or has one that invisible characters hide.
    ///
    /// Other `.` segments of the names that are read are dropped.
    public static let dotSegment = Self(description: "dotSegment")
    /// A name that is written has two slashes in a row; where names are read, the second one is dropped.
    public static let emptySegment = Self(description: "emptySegment")
    /// A name starts with a drive letter.
    public static let driveLetter = Self(description: "driveLetter")
    /// A name has a backslash, and not as the only separator in a name from MS-DOS.
    public static let backslash = Self(description: "backslash")
    /// A name has a NUL or another control character.
    public static let controlCharacter = Self(description: "controlCharacter")
    /// A name or a segment of it is longer than the limit.
    public static let nameTooLong = Self(description: "nameTooLong")
    /// A name has more segments than the limit.
    public static let tooDeep = Self(description: "tooDeep")
    /// Two names are equal, or differ only in case, Unicode form or invisible characters.
    ///
    /// Directories may repeat in the same spelling.
    public static let nameCollision = Self(description: "nameCollision")
    /// The name of a file is also the directory of another entry.
    public static let fileIsDirectory = Self(description: "fileIsDirectory")
}

/// Codes for the kind and form of an entry.
extension ZipError.Code {
    /// An entry is a symbolic link.
    public static let symbolicLink = Self(description: "symbolicLink")
    /// An entry is neither a file nor a directory: a device, the label of a volume, or a pipe or socket without contents.
    public static let specialFile = Self(description: "specialFile")
    /// An entry is a directory by its attributes and a file by its name, or a directory has contents.
    public static let kindMismatch = Self(description: "kindMismatch")
    /// An entry or the directory is encrypted.
    public static let encrypted = Self(description: "encrypted")
    /// An entry is compressed with a method other than stored (0) and deflated (8).
    public static let unsupportedMethod = Self(description: "unsupportedMethod")
    /// An entry's data are a patch for another file.
    public static let unsupportedFlags = Self(description: "unsupportedFlags")
    /// The lengths of an entry's extra fields do not add up, or a field occurs twice with different bytes.
    public static let damagedExtraField = Self(description: "damagedExtraField")
}

/// Codes for the place of an entry in the file.
extension ZipError.Code {
    /// An entry lies outside the file.
    public static let outsideFile = Self(description: "outsideFile")
    /// An entry overlaps another one or the directory.
    public static let overlap = Self(description: "overlap")
    /// There is no local header at the place that the directory gives.
    public static let missingLocalHeader = Self(description: "missingLocalHeader")
    /// The local header and the directory do not agree.
    public static let headerMismatch = Self(description: "headerMismatch")
    /// The descriptor after an entry's data is missing or does not agree with the directory.
    public static let descriptorMismatch = Self(description: "descriptorMismatch")
}

/// Codes for exceeded limits.
extension ZipError.Code {
    /// There are more entries and directories than the limit.
    public static let tooManyEntries = Self(description: "tooManyEntries")
    /// An entry is larger than the limit.
    public static let entryTooLarge = Self(description: "entryTooLarge")
    /// All entries together are larger than the limit.
    public static let archiveTooLarge = Self(description: "archiveTooLarge")
    /// The ratio of the contents' size to the compressed size exceeds the limit.
    public static let ratioTooHigh = Self(description: "ratioTooHigh")
}

/// Codes for contents, and for reading and writing.
extension ZipError.Code {
    /// Compressed data are not valid, or do not end where they should.
    public static let damagedData = Self(description: "damagedData")
    /// The contents are longer or shorter than the stated size.
    public static let sizeMismatch = Self(description: "sizeMismatch")
    /// The contents do not have the stated CRC-32.
    public static let checksumMismatch = Self(description: "checksumMismatch")
    /// The source ended before its stated length.
    public static let truncatedSource = Self(description: "truncatedSource")
    /// A source changed while it was written into an archive.
    public static let sourceChanged = Self(description: "sourceChanged")
    /// The directory to extract into exists and is not empty, or is not a directory.
    public static let targetNotFresh = Self(description: "targetNotFresh")
    /// The archive was finished, or failed, and accepts no more entries.
    public static let writerClosed = Self(description: "writerClosed")
    /// zlib could not allocate memory.
    public static let outOfMemory = Self(description: "outOfMemory")
}
