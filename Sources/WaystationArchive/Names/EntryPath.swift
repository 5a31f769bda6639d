/// A checked name: a path that stays below the directory in which it is resolved.
struct EntryPath {
    /// The path, without the slash that marks a directory.
    let path: String
    /// Whether the name ended in a slash.
    let isDirectory: Bool
    /// The segments of the path, as parts of it; none for the root.
    let segments: [Substring]

    /// The root of the archive, which archivers of `.` write as an entry.
    static let root = EntryPath(path: ".", isDirectory: true, segments: [])

    private init(path: String, isDirectory: Bool, segments: [Substring]) {
        (self.path, self.isDirectory, self.segments) = (path, isDirectory, segments)
    }

    /// The longest segment that Linux file systems accept, in bytes.
    private static let maximumSegmentLength = 255

    /// Checks a name.
    ///
    /// - Throws: ``ZipError`` that names the broken rule.
    init(_ name: String, limits: ZipLimits) throws(ZipError) {
        func refusal(_ code: ZipError.Code, _ problem: String) -> ZipError {
            ZipError(code, entry: name, problem + "; create the archive again, with plain relative names")
        }
        guard !name.isEmpty else { throw refusal(.emptyName, "has no name") }
        guard name.utf8.count <= limits.maximumNameLength else {
            throw ZipError(
                .nameTooLong,
                entry: name,
                "has a name of \(name.utf8.count) bytes, but \(limits.maximumNameLength) are allowed; shorten it, or "
                    + "raise `maximumNameLength`"
            )
        }
        for scalar in name.unicodeScalars {
            if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) {
                throw refusal(.controlCharacter, "has a control character in its name")
            }
            if scalar == "\\" { throw refusal(.backslash, "has a backslash in its name") }
        }
        let bytes = Array(name.utf8.prefix(2))
        if bytes[0] == UInt8(ascii: "/") { throw refusal(.absolutePath, "has an absolute path") }
        if bytes.count == 2, bytes[1] == UInt8(ascii: ":"), Unicode.Scalar(bytes[0]).properties.isAlphabetic {
            throw refusal(.driveLetter, "has a path that starts with a drive letter")
        }

        // The name is split by Unicode scalars: as a `Character`, a slash with a combining mark after it would not be
        // found.
        let isDirectory = name.utf8.last == UInt8(ascii: "/")
        let path = isDirectory ? String(name.unicodeScalars.dropLast()) : name
        let segments = path.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false).map(Substring.init)
        for segment in segments {
            if segment.isEmpty { throw refusal(.emptySegment, "has two slashes in a row in its name") }
            let visible = NameFolding.visible(segment)
            if visible == "." || visible == ".." {
                throw refusal(.dotSegment, "has a '\(visible)' segment in its name")
            }
            guard segment.utf8.count <= Self.maximumSegmentLength else {
                throw refusal(.nameTooLong, "has a segment of more than \(Self.maximumSegmentLength) bytes in its name")
            }
        }
        guard segments.count <= limits.maximumDepth else {
            throw ZipError(
                .tooDeep,
                entry: name,
                "lies \(segments.count) levels deep, but \(limits.maximumDepth) are allowed; raise `maximumDepth`"
            )
        }
        self.init(path: path, isDirectory: isDirectory, segments: segments)
    }
}
