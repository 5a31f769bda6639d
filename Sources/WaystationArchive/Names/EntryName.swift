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
        if let unicodePath { return unicodePath }
        // Most names are ASCII, which both encodings read in the same way.
        switch unmarked.value {
        case .utf8: return try utf8(bytes)
        case .host where !oemHosts.contains(host):
            return String(validating: bytes, as: UTF8.self) ?? CodePage437.decode(bytes)
        case .codePage437, .host: return CodePage437.decode(bytes)
        }
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
        guard let field = extra[.unicodePath], field.count > 5, field.field(0, as: UInt8.self) == 1 else { return nil }
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
