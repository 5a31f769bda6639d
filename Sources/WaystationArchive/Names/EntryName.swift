/// Decodes a name's bytes into text.
enum EntryName {
    /// Decodes a name.
    ///
    /// The UTF-8 flag decides. Without it, an Info-ZIP Unicode Path field (APPNOTE 4.6.9) that was made for exactly
    /// these bytes counts, and without that, the encoding for unmarked names.
    static func decode(
        _ bytes: ArraySlice<UInt8>,
        flags: EntryFlags,
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
        case .codePage437: return CodePage437.decode(bytes)
        }
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
