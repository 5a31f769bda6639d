import WaystationStorage

/// One entry's header in the central directory (APPNOTE 4.3.12), checked on its own.
struct CentralHeader {
    /// The length of the header's fixed part, in bytes.
    static let length = 46
    private static let signature: UInt32 = 0x0201_4B50

    /// The name's bytes as the header has them: the local header must have the same bytes.
    let rawName: [UInt8]
    /// The name, see ``EntryName/plain(_:host:)``.
    let name: String
    let path: EntryPath
    let isDirectory: Bool
    /// Whether the archive lists the entry; false for its root and for directories that it repeats.
    var isListed = true
    /// The system that made the entry (APPNOTE 4.4.2).
    let host: UInt8
    let flags: EntryFlags
    let method: ZipMethod
    let modified: ZipTime
    let crc32: UInt32
    /// The size as the header has it, which the local header and the descriptor must repeat.
    let statedSize: Int
    /// Whether the entry is a directory without data, for which ZIPFoundation states the size of the directory's own
    /// file.
    let isBareDirectory: Bool
    /// The entry's size in bytes; 0 for a directory.
    let size: Int
    let compressedSize: Int
    /// The offset of the local header, counted from the archive's base.
    let offset: Int

    /// Reads the next header of the directory.
    ///
    /// - Throws: ``ZipError``, or the source's error.
    init(from reader: inout SourceReader, limits: ZipLimits) throws {
        guard let fixed = try reader.next(Self.length), fixed.field(0, as: UInt32.self) == Self.signature,
            let rawName = try reader.next(Int(fixed.field(28, as: UInt16.self))),
            let extraBytes = try reader.next(Int(fixed.field(30, as: UInt16.self))),
            try reader.next(Int(fixed.field(32, as: UInt16.self))) != nil
        else { throw Self.damagedDirectory }
        self.rawName = Array(rawName)

        // The label only names the entry in errors, as long as the entry's own name is not checked yet.
        let label = String(decoding: rawName, as: UTF8.self)
        flags = EntryFlags(rawValue: fixed.field(8, as: UInt16.self))
        try flags.check(entry: label)
        let extra = try ExtraFields(extraBytes, entry: label)
        if extra[.strongEncryption] != nil || extra[.aes] != nil {
            throw ZipError(.encrypted, entry: label, "is encrypted; create the archive again, without a password")
        }
        let host = UInt8(fixed.field(4, as: UInt16.self) >> 8)
        let name = EntryName.plain(
            try EntryName.decode(rawName, flags: flags, host: host, extra: extra, unmarked: limits.unmarkedNames),
            host: host
        )
        (self.host, self.name) = (host, name)
        path = name == EntryName.root ? .root : try EntryPath(name, limits: limits)
        let methodNumber = fixed.field(10, as: UInt16.self)
        guard let method = ZipMethod(rawValue: methodNumber) else {
            throw ZipError(
                .unsupportedMethod,
                entry: name,
                "is compressed with method \(methodNumber); create the archive again, stored (0) or deflated (8)"
            )
        }
        self.method = method
        modified = ZipTime(
            packed: UInt32(fixed.field(14, as: UInt16.self)) << 16 | UInt32(fixed.field(12, as: UInt16.self))
        )
        crc32 = fixed.field(16, as: UInt32.self)

        let numbers = try Zip64Numbers(
            size: fixed.field(24, as: UInt32.self),
            compressedSize: fixed.field(20, as: UInt32.self),
            offset: fixed.field(42, as: UInt32.self),
            disk: fixed.field(34, as: UInt16.self),
            extra: extra,
            entry: name
        )
        guard numbers.disk == 0 else {
            throw ZipError(
                .multipleDisks,
                entry: name,
                "is in another part of the archive; create it again, in one file"
            )
        }
        guard let size = Int(exactly: numbers.size), size <= limits.maximumEntrySize else {
            throw ZipError(
                .entryTooLarge,
                entry: name,
                "has \(numbers.size) bytes, but \(limits.maximumEntrySize) are allowed; raise `maximumEntrySize`"
            )
        }
        guard let compressedSize = Int(exactly: numbers.compressedSize), let offset = Int(exactly: numbers.offset)
        else {
            throw ZipError.outsideFile(entry: name)
        }
        (statedSize, self.compressedSize, self.offset) = (size, compressedSize, offset)

        let attributes = fixed.field(38, as: UInt32.self)
        let kind = try EntryKind(
            host: host,
            attributes: attributes,
            hasContents: size > 0,
            extra: extra,
            entry: name
        )
        isDirectory = path.isDirectory
        isBareDirectory = isDirectory && compressedSize == 0 && crc32 == 0
        self.size = isBareDirectory ? 0 : size
        try checkKind(kind)
        try checkSizes(limits)
    }

    private func checkKind(_ kind: EntryKind) throws(ZipError) {
        // Readers disagree about such an entry. A slash at the end of the name makes a directory for all of them,
        // whatever the attributes say.
        guard isDirectory || !kind.isDirectory else {
            throw ZipError(
                .kindMismatch,
                entry: path.path,
                "is a directory by its attributes and a file by its name; create the archive again"
            )
        }
        guard !isDirectory || size == 0 else {
            throw ZipError(.kindMismatch, entry: path.path, "is a directory with contents; create the archive again")
        }
    }

    private func checkSizes(_ limits: ZipLimits) throws(ZipError) {
        guard method == .deflated || size == compressedSize else {
            throw ZipError(
                .sizeMismatch,
                entry: path.path,
                "is stored but has two sizes, \(size) and \(compressedSize); fetch or create the archive again"
            )
        }
        try Self.checkRatio(of: size, to: compressedSize, limits: limits, entry: path.path)
    }

    /// Refuses an entry, or an archive, that grows too much when it is extracted.
    static func checkRatio(of size: Int, to compressedSize: Int, limits: ZipLimits, entry: String?) throws(ZipError) {
        guard size > limits.ratioFloor else { return }
        let (allowed, overflow) = max(1, compressedSize).multipliedReportingOverflow(by: max(1, limits.maximumRatio))
        guard overflow || size <= allowed else {
            let problem =
                "grows more than \(limits.maximumRatio) times, from \(compressedSize) to \(size) bytes; raise "
                + "`maximumRatio` if it is valid"
            throw ZipError(.ratioTooHigh, entry: entry, entry == nil ? "the archive \(problem)" : problem)
        }
    }

    static var damagedDirectory: ZipError {
        ZipError(
            .damagedDirectory,
            "the directory is not a valid list of entries; the archive is damaged: fetch it again"
        )
    }
}

extension ZipError {
    static func outsideFile(entry: String) -> ZipError {
        ZipError(.outsideFile, entry: entry, "is outside the archive, which is damaged or cut short; fetch it again")
    }
}

/// The kind of an entry by its attributes, for each system that may have made it.
struct EntryKind {
    /// Whether the entry is a directory by its attributes.
    let isDirectory: Bool

    /// The hosts whose attributes are those of MS-DOS and Windows (APPNOTE 4.4.2): FAT, both numbers for NTFS, VFAT.
    private static let windowsHosts: Set<UInt8> = [0, 10, 11, 14]
    private static let windowsDirectory: UInt32 = 0x10
    private static let windowsReparsePoint: UInt32 = 0x400
    /// The hosts whose entries may be the label of a volume: FAT, Atari, HPFS, NTFS.
    private static let labelHosts: Set<UInt8> = [0, 5, 6, 11]
    private static let label: UInt32 = 0x8

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
        // Readers on other systems make a file of it, and `unzip` nothing.
        if Self.labelHosts.contains(host), attributes & Self.label != 0 {
            throw ZipError(
                .specialFile,
                entry: entry,
                "is the label of a volume; create the archive again, of files and directories only"
            )
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
