/// An entry's second header, before its data (APPNOTE 4.3.7), which must agree with the directory.
///
/// Tools that read an archive as a stream trust this header, others trust the directory: if the two differ, tools see
/// two different archives.
struct LocalHeader {
    /// The length of the header's fixed part, in bytes.
    static let length = 30
    private static let signature: UInt32 = 0x0403_4B50

    /// The position of the first byte of the data.
    let dataOffset: Int
    let flags: EntryFlags

    /// Reads the header at the reader's position and compares it with the directory's header.
    ///
    /// - Throws: ``ZipError``, or the source's error.
    init(from reader: inout SourceReader, describing central: CentralHeader) throws {
        let entry = central.path.path
        guard let fixed = try reader.next(Self.length), fixed.field(0, as: UInt32.self) == Self.signature else {
            throw ZipError(
                .missingLocalHeader,
                entry: entry,
                "is not where the directory says; the archive is damaged: fetch it again"
            )
        }
        func mismatch(_ what: String) -> ZipError {
            ZipError(
                .headerMismatch,
                entry: entry,
                "has a different \(what) in its local header than in the directory; fetch or create the archive again"
            )
        }
        guard let rawName = try reader.next(Int(fixed.field(26, as: UInt16.self))),
            rawName.elementsEqual(central.rawName)
        else { throw mismatch("name") }
        guard let extraBytes = try reader.next(Int(fixed.field(28, as: UInt16.self))) else {
            throw ZipError.outsideFile(entry: entry)
        }
        flags = EntryFlags(rawValue: fixed.field(6, as: UInt16.self))
        // ASCII is the same in every encoding of names.
        let meaning: EntryFlags = rawName.allSatisfy { $0 < 0x80 } ? .changingData : [.changingData, .utf8]
        guard flags.symmetricDifference(central.flags).isDisjoint(with: meaning) else {
            throw mismatch("set of flags")
        }
        guard fixed.field(8, as: UInt16.self) == central.method.rawValue else { throw mismatch("method") }

        let extra = try ExtraFields(extraBytes, entry: entry)
        if let unicodePath = try EntryName.unicodePath(in: extra, for: rawName) {
            let name = EntryName.plain(unicodePath, host: central.host)
            guard name.utf8.elementsEqual(central.name.utf8) else { throw mismatch("name") }
        }
        let sizes = try Zip64Numbers.localSizes(
            size: fixed.field(22, as: UInt32.self),
            compressedSize: fixed.field(18, as: UInt32.self),
            offset: central.offset,
            extra: extra,
            entry: entry
        )
        // Each number that the descriptor repeats may be left open here, as zero. The size of a directory's own file,
        // which some writers state, may be in one header alone.
        let hasDescriptor = flags.contains(.descriptor)
        func agrees(_ number: UInt64, _ expected: UInt64) -> Bool {
            number == expected || number == 0 && (hasDescriptor || central.isBareDirectory)
        }
        guard agrees(UInt64(fixed.field(14, as: UInt32.self)), UInt64(central.crc32)) else { throw mismatch("CRC-32") }
        guard agrees(sizes.size, UInt64(central.statedSize)) else { throw mismatch("size") }
        guard agrees(sizes.compressedSize, UInt64(central.compressedSize)) else { throw mismatch("compressed size") }
        dataOffset = reader.position
    }
}
