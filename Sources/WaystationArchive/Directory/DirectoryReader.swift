import WaystationStorage

/// Reads an archive's directory and every local header, and refuses the archive unless all of them are sound.
///
/// No part of an archive is used before this check is complete. After it, only the compressed data can still turn out
/// to differ from what the headers say.
struct DirectoryReader {
    private let source: any ByteSource
    private let limits: ZipLimits

    private static let directoryWindow = 64 << 10
    /// Room for the header of a small entry and of the entries after it.
    private static let headerWindow = 4 << 10

    init(_ source: any ByteSource, limits: ZipLimits) {
        self.source = source
        self.limits = limits
    }

    /// Reads the entries in the directory's order, and every directory that their paths need, parents before children.
    ///
    /// - Throws: ``ZipError``, or the source's error.
    func read() throws -> (entries: [ZipEntry], directories: [String]) {
        let end = try EndOfDirectory.find(in: source, limits: limits)
        let (headers, names) = try centralHeaders(end)
        let dataOffsets = try locate(headers, end: end)
        let entries = zip(headers, dataOffsets).filter { $0.0.isListed }.map { header, dataOffset in
            ZipEntry(
                path: header.path.path,
                isDirectory: header.isDirectory,
                size: header.size,
                compressedSize: header.compressedSize,
                crc32: header.crc32,
                method: header.method,
                modified: header.modified,
                // The sum was checked when the header was located.
                offset: end.base + header.offset,
                dataOffset: dataOffset
            )
        }
        return (entries, names.directories)
    }

    private func centralHeaders(_ end: EndOfDirectory) throws -> ([CentralHeader], NameTree) {
        var reader = SourceReader(source, range: end.range, windowSize: Self.directoryWindow)
        var names = NameTree(maximumCount: limits.maximumEntries)
        var headers: [CentralHeader] = []
        var totalSize = 0
        while reader.remaining > 0 {
            guard headers.count < limits.maximumEntries else { throw NameTree.tooMany(limits.maximumEntries) }
            var header = try CentralHeader(from: &reader, limits: limits)
            header.isListed = try names.insert(header.path)
            guard let sum = totalSize.adding(header.size), sum <= limits.maximumTotalSize else {
                throw ZipError(
                    .archiveTooLarge,
                    "the archive's entries have more than the \(limits.maximumTotalSize) bytes that are allowed; raise "
                        + "`maximumTotalSize` to allow more"
                )
            }
            totalSize = sum
            headers.append(header)
        }
        guard end.states(headers.count) else { throw CentralHeader.damagedDirectory }
        try CentralHeader.checkRatio(of: totalSize, to: source.length, limits: limits, entry: nil)
        return (headers, names)
    }

    /// Compares every local header and descriptor with the directory, and finds where each entry's data start.
    ///
    /// The entries are visited in the order of their offsets. Each entry may reach up to the next one, and the last up
    /// to the directory, so no two can overlap.
    private func locate(_ headers: [CentralHeader], end: EndOfDirectory) throws -> [Int] {
        let order = headers.indices.sorted { headers[$0].offset < headers[$1].offset }
        var dataOffsets = [Int](repeating: 0, count: headers.count)
        var reader = SourceReader(source, range: 0..<end.range.lowerBound, windowSize: Self.headerWindow)
        var previousEnd = 0
        for (place, index) in order.enumerated() {
            let header = headers[index]
            guard let start = end.base.adding(header.offset), start < source.length else {
                throw ZipError.outsideFile(entry: header.path.path)
            }
            // An entry that starts before the previous one ends overlaps it.
            guard start >= previousEnd, start < end.range.lowerBound else { throw overlap(header) }
            try JunkScan.check(previousEnd..<start, of: source, at: place == 0 ? .leading : .between, limits: limits)
            reader.seek(to: start)
            let local = try LocalHeader(from: &reader, describing: header)
            dataOffsets[index] = local.dataOffset
            guard let dataEnd = dataOffsets[index].adding(header.compressedSize), dataEnd <= source.length else {
                throw ZipError.outsideFile(entry: header.path.path)
            }
            guard dataEnd <= end.range.lowerBound else { throw overlap(header) }
            // Some writers repeat directories. Nobody would read the data of the second one.
            if !header.isListed, header.compressedSize > 0 {
                guard try isDeflatedNothing(header, from: &reader) else { throw NameTree.collision(header.path) }
            }
            reader.seek(to: dataEnd)
            if local.flags.union(header.flags).contains(.descriptor) {
                // Readers look for it only if the local header announces it, and some writers leave it out after
                // directories, which have no data.
                let isRequired = local.flags.contains(.descriptor) && !header.isDirectory
                try DataDescriptor.check(from: &reader, describing: header, isRequired: isRequired)
            }
            previousEnd = reader.position
        }
        try JunkScan.check(
            previousEnd..<end.range.lowerBound,
            of: source,
            at: headers.isEmpty ? .leading : .between,
            limits: limits
        )
        return dataOffsets
    }

    /// Whether an entry's data, at the reader's position, are the two bytes to which deflate compresses no bytes.
    ///
    /// Java's writers deflate directories too.
    private func isDeflatedNothing(_ header: CentralHeader, from reader: inout SourceReader) throws -> Bool {
        guard header.method == .deflated, header.compressedSize == 2, header.crc32 == 0 else { return false }
        return try reader.next(2)?.elementsEqual([3, 0]) == true
    }

    private func overlap(_ header: CentralHeader) -> ZipError {
        ZipError(
            .overlap,
            entry: header.path.path,
            "shares bytes with another entry or with the directory; fetch or create the archive again"
        )
    }
}

/// The record after an entry's data with the numbers that its local header left open (APPNOTE 4.3.9).
///
/// Writers differ in whether they write a signature first and when they write sizes with 64 bits, so all four forms are
/// tried.
enum DataDescriptor {
    private static let signature: UInt32 = 0x0807_4B50

    /// Reads the descriptor at the reader's position, and moves the reader past it.
    ///
    /// Without a descriptor, the reader stays where it is.
    ///
    /// - Throws: ``ZipError`` when the descriptor is required and no form of it agrees with the directory, or the
    ///   source's error.
    static func check(
        from reader: inout SourceReader,
        describing central: CentralHeader,
        isRequired: Bool
    ) throws {
        let start = reader.position
        // The longest form comes first: when all numbers are zero, the short form is the beginning of the long one.
        for (isSigned, isWide) in [(true, true), (false, true), (true, false), (false, false)] {
            reader.seek(to: start)
            guard let bytes = try reader.next((isSigned ? 4 : 0) + (isWide ? 20 : 12)) else { continue }
            if isSigned, bytes.field(0, as: UInt32.self) != signature { continue }
            let numbers = bytes.dropFirst(isSigned ? 4 : 0)
            let crc32 = numbers.field(0, as: UInt32.self)
            let compressedSize =
                isWide ? numbers.field(4, as: UInt64.self) : UInt64(numbers.field(4, as: UInt32.self))
            let size = isWide ? numbers.field(12, as: UInt64.self) : UInt64(numbers.field(8, as: UInt32.self))
            if crc32 == central.crc32, compressedSize == UInt64(central.compressedSize),
                size == UInt64(central.statedSize)
            {
                return
            }
        }
        guard isRequired else { return reader.seek(to: start) }
        throw ZipError(
            .descriptorMismatch,
            entry: central.path.path,
            "has no descriptor after its data that agrees with the directory; fetch or create the archive again"
        )
    }
}

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

/// Reads consecutive records from a part of a source through a window, so that memory use does not grow with the part.
struct SourceReader {
    private let source: any ByteSource
    private let windowSize: Int
    /// The position of the next read.
    private(set) var position: Int
    /// The end of the part that may be read.
    let end: Int
    private var window: [UInt8] = []
    private var windowStart = 0

    /// Makes a reader of a range that lies within the source.
    init(_ source: any ByteSource, range: Range<Int>, windowSize: Int) {
        self.source = source
        self.windowSize = windowSize
        position = range.lowerBound
        end = range.upperBound
    }

    /// The number of bytes left to read.
    var remaining: Int { end - position }

    /// Moves to a position within the range.
    mutating func seek(to position: Int) { self.position = position }

    /// The next bytes, or `nil` when fewer are left.
    mutating func next(_ count: Int) throws -> ArraySlice<UInt8>? {
        guard count <= remaining else { return nil }
        if position < windowStart || position + count > windowStart + window.count {
            let size = Swift.min(Swift.max(count, windowSize), remaining)
            window = try source.bytes(at: position, count: size)
            windowStart = position
        }
        let start = position - windowStart
        position += count
        return window[start..<start + count]
    }
}

extension ByteSource {
    /// The bytes of a range that lies within the source.
    func bytes(at offset: Int, count: Int) throws -> [UInt8] {
        let bytes = try [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            let room = UnsafeMutableRawBufferPointer(buffer)[..<count]
            filled = try read(at: offset, into: UnsafeMutableRawBufferPointer(rebasing: room))
        }
        guard bytes.count == count else { throw ZipError.truncatedSource }
        return bytes
    }
}

extension ZipError {
    static var truncatedSource: ZipError {
        ZipError(.truncatedSource, "the source ended before its stated length; the file became shorter: fetch it again")
    }
}
