import Foundation

/// Decodes a name's bytes into text.
enum EntryName {
    /// Decodes a name.
    ///
    /// The UTF-8 flag decides. Without it, an Info-ZIP Unicode Path field (APPNOTE 4.6.9) that was made for exactly
    /// these bytes counts, and without that, the encoding for unmarked names, which may depend on the host: the system
    /// that made the entry (APPNOTE 4.4.2).
    static func decode(
        _ bytes: ArraySlice<UInt8>,
        flags: EntryFlags,
        host: UInt8,
        extra: ExtraFields,
        unmarked: ZipLimits.NameEncoding
    ) throws(ZipError) -> String {
        let unicodePath = try unicodePath(in: extra, for: bytes)
        if flags.contains(.utf8) {
            let name = try utf8(bytes)
            if let unicodePath, !unicodePath.utf8.elementsEqual(name.utf8) {
                throw ZipError(
                    .headerMismatch,
                    entry: name,
                    "has a second name in its Unicode Path field; create the archive again, with one name per entry"
                )
            }
            return name
        }
        if let unicodePath {
            // A reader that ignores the field must not make a file where another one makes a directory.
            guard marksDirectory(unicodePath, host: host) == marksDirectory(CodePage437.decode(bytes), host: host)
            else {
                throw ZipError(
                    .kindMismatch,
                    entry: unicodePath,
                    "is a directory by one of its two names and a file by the other; create the archive again"
                )
            }
            return unicodePath
        }
        // Most names are ASCII, which both encodings read in the same way.
        switch unmarked.value {
        case .utf8: return try utf8(bytes)
        case .host where !oemHosts.contains(host):
            return String(validating: bytes, as: UTF8.self) ?? CodePage437.decode(bytes)
        case .codePage437, .host: return CodePage437.decode(bytes)
        }
    }

    private static func marksDirectory(_ name: String, host: UInt8) -> Bool {
        plain(name, host: host).utf8.last == UInt8(ascii: "/")
    }

    /// MS-DOS, whose names may have backslashes between their segments.
    private static let dos: UInt8 = 0
    /// The hosts on which writers take the bytes of names from the code page of the PC: MS-DOS and OS/2.
    private static let oemHosts: Set<UInt8> = [dos, 6]

    /// The name of an archive's root as ``plain(_:host:)`` returns it.
    static let root = "./"

    /// The name without what does not change its path: `.` segments, and slashes after another one.
    ///
    /// `bsdtar` writes `./` ahead of every name when it archives `.`. On MS-DOS, backslashes are separators too; `unzip`
    /// and `bsdtar` read them so in a name that has no slash. A name that starts with a slash stays as it is, so that
    /// it is refused, and so does a `.` at the end, which readers take for different files.
    static func plain(_ name: String, host: UInt8) -> String {
        var scalars = name.unicodeScalars
        if host == dos, scalars.contains("\\"), !scalars.contains("/") {
            scalars = String.UnicodeScalarView(scalars.map { $0 == "\\" ? "/" : $0 })
        }
        let segments = scalars.split(separator: "/", omittingEmptySubsequences: false)
        guard segments.count > 1, let first = segments.first, !first.isEmpty, let last = segments.last else {
            return String(scalars)
        }
        let kept = segments.dropLast().filter { !$0.isEmpty && !$0.elementsEqual(".".unicodeScalars) }
        if kept.isEmpty, last.isEmpty { return root }
        return (kept + [last]).map { String($0) }.joined(separator: "/")
    }

    /// The name in a Unicode Path field; `nil` without one, or when it was made for other bytes.
    static func unicodePath(in extra: ExtraFields, for name: ArraySlice<UInt8>) throws(ZipError) -> String? {
        guard let field = extra[.unicodePath], field.count >= 5, field[field.startIndex] == 1 else { return nil }
        var checksum = CRC32()
        checksum.update(name)
        guard field.field(1, as: UInt32.self) == checksum.value else { return nil }
        return try utf8(field.dropFirst(5))
    }

    private static func utf8(_ bytes: ArraySlice<UInt8>) throws(ZipError) -> String {
        guard let name = String(validating: bytes, as: UTF8.self) else {
            throw ZipError(
                .invalidUTF8,
                entry: String(decoding: bytes, as: UTF8.self),
                "has a name that should be UTF-8 but is not; create the archive again with a tool that writes UTF-8"
            )
        }
        return name
    }
}

/// The character set of the original PC, the default for zip names (APPNOTE D.1).
enum CodePage437 {
    /// The characters from 0x80 on; the lower ones are ASCII.
    private static let upperHalf = Array(
        ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐"
            + "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}").unicodeScalars
    )

    static func decode(_ bytes: some Sequence<UInt8>) -> String {
        var text = String.UnicodeScalarView()
        for byte in bytes {
            text.append(byte < 0x80 ? Unicode.Scalar(byte) : upperHalf[Int(byte) - 0x80])
        }
        return String(text)
    }
}

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

/// Compares names regardless of case, Unicode form and invisible characters.
enum NameFolding {
    /// Returns a form that is equal for all spellings of a name.
    ///
    /// The case is folded down, up, and down again. A single step would not make `ß` and `SS` equal, nor the two forms
    /// of a small sigma. Without the first folding down, `ẞ`, whose upper case is itself, and `ß`, whose upper case is
    /// `SS`, would not become equal.
    static func folded(_ segment: Substring) -> String {
        if segment.utf8.allSatisfy({ $0 < 0x80 }) { return segment.lowercased() }
        // Case changes depend on the order of combining marks, so each step works on the normal form.
        return visible(segment).precomposedStringWithCanonicalMapping.lowercased()
            .precomposedStringWithCanonicalMapping.uppercased()
            .precomposedStringWithCanonicalMapping.lowercased()
    }

    /// A name without the characters that file systems with folding ignore, such as joiners and variation selectors
    /// (Unicode's property `Default_Ignorable_Code_Point`).
    static func visible(_ segment: Substring) -> String {
        if segment.utf8.allSatisfy({ $0 < 0x80 }) { return String(segment) }
        return String(
            String.UnicodeScalarView(segment.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint })
        )
    }
}
