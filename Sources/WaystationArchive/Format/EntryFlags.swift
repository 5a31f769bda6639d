/// The general purpose bits of an entry (APPNOTE 4.4.4).
struct EntryFlags: OptionSet, Hashable {
    let rawValue: UInt16

    static let encrypted = EntryFlags(rawValue: 1 << 0)
    /// The CRC and the sizes follow the data.
    static let descriptor = EntryFlags(rawValue: 1 << 3)
    /// The data are a patch for another file.
    static let patched = EntryFlags(rawValue: 1 << 5)
    static let stronglyEncrypted = EntryFlags(rawValue: 1 << 6)
    static let utf8 = EntryFlags(rawValue: 1 << 11)
    /// The local header hides its fields, because the directory is encrypted.
    static let masked = EntryFlags(rawValue: 1 << 13)

    private static let encryption: EntryFlags = [.encrypted, .stronglyEncrypted, .masked]
    /// The flags with which the bytes of stored and deflated data are not what they are without them.
    static let changingData: EntryFlags = encryption.union(.patched)

    /// Refuses flags that change the data.
    ///
    /// The others tell how the data were compressed, or mean nothing for the two methods that are read; readers ignore
    /// them, and some writers set them.
    func check(entry: String) throws(ZipError) {
        guard isDisjoint(with: Self.encryption) else {
            throw ZipError(.encrypted, entry: entry, "is encrypted; create the archive again, without a password")
        }
        guard !contains(.patched) else {
            throw ZipError(
                .unsupportedFlags,
                entry: entry,
                "is a patch for another file (flag 5); create the archive again, with plain deflate"
            )
        }
    }
}
