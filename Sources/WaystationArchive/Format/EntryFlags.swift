/// The general purpose bits of an entry (APPNOTE 4.4.4).
struct EntryFlags: OptionSet, Hashable {
    let rawValue: UInt16

    static let encrypted = EntryFlags(rawValue: 1 << 0)
    /// The compressor's effort; a reader does not need it.
    static let compressionEffort = EntryFlags(rawValue: 0b11 << 1)
    /// The CRC and the sizes follow the data.
    static let descriptor = EntryFlags(rawValue: 1 << 3)
    static let stronglyEncrypted = EntryFlags(rawValue: 1 << 6)
    static let utf8 = EntryFlags(rawValue: 1 << 11)
    /// The local header hides its fields, because the directory is encrypted.
    static let masked = EntryFlags(rawValue: 1 << 13)

    private static let encryption: EntryFlags = [.encrypted, .stronglyEncrypted, .masked]
    private static let known: EntryFlags = [.compressionEffort, .descriptor, .utf8]

    /// Refuses flags that cannot be read, or that another reader might interpret differently.
    func check(entry: String) throws(ZipError) {
        guard isDisjoint(with: Self.encryption) else {
            throw ZipError(.encrypted, entry: entry, "is encrypted; create the archive again, without a password")
        }
        guard isSubset(of: Self.known) else {
            let unknown = String(subtracting(Self.known).rawValue, radix: 16)
            throw ZipError(
                .unsupportedFlags,
                entry: entry,
                "has unknown flags (0x\(unknown)); create the archive again, with plain deflate"
            )
        }
    }
}
