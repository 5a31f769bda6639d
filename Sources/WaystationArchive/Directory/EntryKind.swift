/// The kind of an entry by its attributes, for each system that may have made it.
struct EntryKind {
    /// Whether the entry is a directory by its attributes.
    let isDirectory: Bool

    /// The hosts whose attributes are those of MS-DOS and Windows (APPNOTE 4.4.2): FAT, both numbers for NTFS, VFAT.
    private static let windowsHosts: Set<UInt8> = [0, 10, 11, 14]
    private static let windowsDirectory: UInt32 = 0x10
    private static let windowsReparsePoint: UInt32 = 0x400

    private static let typeMask: UInt32 = 0o170_000
    private static let directory: UInt32 = 0o040_000
    private static let regularFile: UInt32 = 0o100_000
    private static let symbolicLink: UInt32 = 0o120_000
    private static let pipe: UInt32 = 0o010_000
    private static let socket: UInt32 = 0o140_000

    /// Reads the attributes of a directory header.
    ///
    /// A Unix mode in the upper half counts for every host, since extractors use it too. An entry with contents whose
    /// mode is that of a pipe or a socket is a file: Info-ZIP's `zip -` records the mode of its input.
    ///
    /// - Throws: ``ZipError`` for anything but files and directories.
    init(host: UInt8, attributes: UInt32, hasContents: Bool, extra: ExtraFields, entry: String) throws(ZipError) {
        let type = attributes >> 16 & Self.typeMask
        let isStreamed = hasContents && (type == Self.pipe || type == Self.socket)
        if !isStreamed { try Self.check(mode: type, entry: entry) }
        if Self.windowsHosts.contains(host), attributes & Self.windowsReparsePoint != 0 {
            throw Self.link(entry)
        }
        // Info-ZIP's first Unix field has a checksum, then the mode.
        if let field = extra[.infoZipUnix], field.count >= 6 {
            try Self.check(mode: UInt32(field.field(4, as: UInt16.self)), entry: entry)
        }
        // PKWARE's Unix field has twelve bytes, which a link's target or a device's number follows.
        if let field = extra[.pkwareUnix], field.count > 12 { throw Self.link(entry) }

        switch type {
        case Self.directory: isDirectory = true
        case Self.regularFile, Self.pipe, Self.socket: isDirectory = false
        default: isDirectory = attributes & Self.windowsDirectory != 0
        }
    }

    private static func check(mode: UInt32, entry: String) throws(ZipError) {
        switch mode & typeMask {
        case 0, regularFile, directory: return
        case symbolicLink: throw link(entry)
        default:
            throw ZipError(
                .specialFile,
                entry: entry,
                "is a device, a pipe or a socket; create the archive again, of files and directories only"
            )
        }
    }

    private static func link(_ entry: String) -> ZipError {
        ZipError(.symbolicLink, entry: entry, "is a symbolic link; create the archive again, with the file instead")
    }
}
