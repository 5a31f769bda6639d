import WaystationStorage

/// The place of an archive's central directory, from the records at the archive's end (APPNOTE 4.3.14 to 4.3.16).
///
/// ```
/// … central directory │ zip64 end record, 56 bytes │ its locator, 20 bytes │ end record, 22 bytes │ comment, to the end
///                       └────── only where a number needs more bits ─────┘
/// ```
struct EndOfDirectory {
    /// The position that offsets count from: zero, except for archives with junk before the first entry.
    let base: Int
    let range: Range<Int>
    /// The number of entries that the end records state.
    private let statedCount: Int
    /// Whether there is a zip64 end record, which has room for every number.
    private let isWide: Bool

    /// Whether the end records state this number of entries.
    ///
    /// Some writers have no zip64 form, such as macOS's Archive Utility, and state the lower 16 bits of a larger number.
    func states(_ count: Int) -> Bool {
        count == statedCount || !isWide && count & Int(UInt16.max) == statedCount
    }

    private static let signature: UInt32 = 0x0605_4B50
    private static let length = 22
    private static let locatorSignature: UInt32 = 0x0706_4B50
    private static let locatorLength = 20
    private static let wideSignature: UInt32 = 0x0606_4B50
    private static let wideLength = 56

    /// The numbers of an end record.
    private struct Numbers {
        var disk: UInt32
        var directoryDisk: UInt32
        var entriesOnDisk: UInt64
        var entries: UInt64
        var size: UInt64
        var offset: UInt64
    }

    /// Finds the directory.
    ///
    /// - Throws: ``ZipError``, or the source's error.
    static func find(in source: any ByteSource, limits: ZipLimits) throws -> EndOfDirectory {
        // A comment has at most 65,535 bytes, so no record starts farther from the end.
        let tailStart = max(0, source.length - (length + Int(UInt16.max)))
        let tail = try source.bytes(at: tailStart, count: source.length - tailStart)
        let recordStart = try locate(in: tail)
        let recordEnd = tailStart + recordStart + length + Int(tail.field(recordStart + 20, as: UInt16.self))
        try JunkScan.check(recordEnd..<source.length, of: source, at: .trailing, limits: limits)
        let record = tail[recordStart..<recordStart + length]
        var numbers = Numbers(
            disk: UInt32(record.field(4, as: UInt16.self)),
            directoryDisk: UInt32(record.field(6, as: UInt16.self)),
            entriesOnDisk: UInt64(record.field(8, as: UInt16.self)),
            entries: UInt64(record.field(10, as: UInt16.self)),
            size: UInt64(record.field(12, as: UInt32.self)),
            offset: UInt64(record.field(16, as: UInt32.self))
        )
        var directoryEnd = tailStart + recordStart
        let wide = try readWide(in: source, before: directoryEnd, narrow: numbers)
        if let wide {
            (numbers, directoryEnd) = wide
        } else if numbers.offset == UInt64(UInt32.max) || numbers.size == UInt64(UInt32.max) {
            // Info-ZIP's `zip -fz` omits the record when it writes to a pipe; no tool reads such an archive.
            throw invalid("the end record requires a zip64 end record, which is missing")
        }
        return try directory(numbers, end: directoryEnd, isWide: wide != nil, limits: limits)
    }

    /// The start of the end record in the tail: the one that reaches the end with its comment, or else the last one.
    private static func locate(in tail: [UInt8]) throws(ZipError) -> Int {
        guard tail.count >= length else { throw notAnArchive }
        var fitting: [Int] = []
        var shorter: Int?
        for start in stride(from: tail.count - length, through: 0, by: -1)
        where tail[start] == 0x50 && tail.field(start, as: UInt32.self) == signature {
            let rest = tail.count - start - length - Int(tail.field(start + 20, as: UInt16.self))
            if rest == 0 { fitting.append(start) }
            if rest > 0, shorter == nil { shorter = start }
        }
        // When two records both reach the end, one of them is a comment that looks like a record.
        guard fitting.count < 2 else {
            throw ZipError(
                .ambiguousEnd,
                "the archive has \(fitting.count) end records, one in the comment of the other; create it "
                    + "again, without a comment"
            )
        }
        guard let start = fitting.first ?? shorter else { throw notAnArchive }
        return start
    }

    /// The numbers of the zip64 end record, and its start; `nil` if the archive has no such record.
    private static func readWide(
        in source: any ByteSource,
        before recordStart: Int,
        narrow: Numbers
    ) throws -> (Numbers, start: Int)? {
        let locatorStart = recordStart - locatorLength
        guard locatorStart >= 0 else { return nil }
        let locator = try source.bytes(at: locatorStart, count: locatorLength)
        guard locator.field(0, as: UInt32.self) == locatorSignature else { return nil }
        // Some writers put zero for the number of disks.
        guard locator.field(4, as: UInt32.self) == 0, locator.field(16, as: UInt32.self) <= 1 else {
            throw multipleDisks
        }
        let start = locatorStart - wideLength
        guard start >= 0, UInt64(start) >= locator.field(8, as: UInt64.self) else {
            throw invalid("the zip64 end record is not where its locator says")
        }
        let record = try source.bytes(at: start, count: wideLength)
        // A longer record, as of version 2, describes an encrypted directory.
        guard record.field(0, as: UInt32.self) == wideSignature, record.field(4, as: UInt64.self) == 44 else {
            throw invalid("there is no zip64 end record before its locator")
        }
        let wide = Numbers(
            disk: record.field(16, as: UInt32.self),
            directoryDisk: record.field(20, as: UInt32.self),
            entriesOnDisk: record.field(24, as: UInt64.self),
            entries: record.field(32, as: UInt64.self),
            size: record.field(40, as: UInt64.self),
            offset: record.field(48, as: UInt64.self)
        )
        func agrees(_ narrow: UInt64, _ wide: UInt64, placeholder: UInt64) -> Bool {
            narrow == wide || narrow == placeholder
        }
        let short = UInt64(UInt16.max)
        let long = UInt64(UInt32.max)
        guard agrees(UInt64(narrow.disk), UInt64(wide.disk), placeholder: short),
            agrees(UInt64(narrow.directoryDisk), UInt64(wide.directoryDisk), placeholder: short),
            agrees(narrow.entriesOnDisk, wide.entriesOnDisk, placeholder: short),
            agrees(narrow.entries, wide.entries, placeholder: short),
            agrees(narrow.size, wide.size, placeholder: long),
            agrees(narrow.offset, wide.offset, placeholder: long)
        else { throw invalid("the two end records contradict each other") }
        // The locator's offset counts from the same base as the directory's offset.
        let base = UInt64(start) - locator.field(8, as: UInt64.self)
        let (directoryEnd, overflow) = wide.offset.addingReportingOverflow(wide.size)
        guard !overflow, directoryEnd <= UInt64(start), UInt64(start) - directoryEnd == base else {
            throw invalid("the directory does not end where its zip64 end record starts")
        }
        return (wide, start)
    }

    private static func directory(
        _ numbers: Numbers,
        end: Int,
        isWide: Bool,
        limits: ZipLimits
    ) throws(ZipError) -> EndOfDirectory {
        guard numbers.disk == 0, numbers.directoryDisk == 0, numbers.entriesOnDisk == numbers.entries else {
            throw multipleDisks
        }
        let (claimedEnd, overflow) = numbers.offset.addingReportingOverflow(numbers.size)
        guard !overflow, claimedEnd <= UInt64(end) else {
            throw ZipError(
                .damagedDirectory,
                "the directory runs past its end record; the archive is damaged or cut short: fetch it again"
            )
        }
        let base = end - Int(claimedEnd)
        let start = base + Int(numbers.offset)
        // Each entry takes at least 46 bytes, so a false count is found before it is used.
        guard numbers.entries <= numbers.size / UInt64(CentralHeader.length) else {
            throw ZipError(
                .damagedDirectory,
                "the archive announces \(numbers.entries) entries but its directory is too short; fetch it again"
            )
        }
        guard numbers.entries <= UInt64(max(0, limits.maximumEntries)) else {
            throw NameTree.tooMany(limits.maximumEntries)
        }
        return EndOfDirectory(
            base: base,
            range: start..<end,
            statedCount: Int(numbers.entries),
            isWide: isWide
        )
    }

    private static var notAnArchive: ZipError {
        ZipError(.notAnArchive, "there is no end record: this is not a zip archive, or it is cut short; fetch it again")
    }

    private static var multipleDisks: ZipError {
        ZipError(.multipleDisks, "the archive is one of several parts; create it again, in one file")
    }

    private static func invalid(_ problem: String) -> ZipError {
        ZipError(.invalidZip64, "\(problem); fetch or create the archive again")
    }
}

/// The numbers of a header that may be too large for it, and are then in its zip64 field (APPNOTE 4.5.3).
struct Zip64Numbers {
    /// The 32-bit number in a header that means that the real number is in the zip64 field.
    static let placeholder = UInt32.max
    private static let diskPlaceholder = UInt16.max

    var size: UInt64
    var compressedSize: UInt64
    var offset: UInt64
    var disk: UInt32

    /// Reads the numbers of a directory header, and takes those that the header has no room for from its zip64 field.
    init(
        size: UInt32,
        compressedSize: UInt32,
        offset: UInt32,
        disk: UInt16,
        extra: ExtraFields,
        entry: String
    ) throws(ZipError) {
        let numbers = [UInt64(size), UInt64(compressedSize), UInt64(offset), UInt64(disk)]
        let isWide = [size, compressedSize, offset].map { $0 == Self.placeholder } + [disk == Self.diskPlaceholder]
        let all = try Self.complete(
            numbers,
            needed: numbers.indices.filter { isWide[$0] },
            from: extra[.zip64],
            of: "header",
            entry: entry
        )
        (self.size, self.compressedSize, self.offset) = (all[0], all[1], all[2])
        self.disk = UInt32(truncatingIfNeeded: all[3])
    }

    /// The sizes of a local header.
    ///
    /// The `offset` and a disk may be in its zip64 field too, since some writers use one field for both headers.
    static func localSizes(
        size: UInt32,
        compressedSize: UInt32,
        offset: Int,
        extra: ExtraFields,
        entry: String
    ) throws(ZipError) -> (size: UInt64, compressedSize: UInt64) {
        let sizes = [size, compressedSize]
        let all = try complete(
            sizes.map { UInt64($0) } + [UInt64(offset), 0],
            needed: sizes.indices.filter { sizes[$0] == placeholder },
            from: extra[.zip64],
            of: "local header",
            entry: entry
        )
        return (all[0], all[1])
    }

    /// The size, the compressed size, the offset and the disk of a header, those that are needed from its zip64 field.
    ///
    /// By the specification, the field has only the numbers that do not fit into the header, in this order. Go's
    /// `archive/zip` and others write all numbers into it as soon as one needs it, others write the field, often empty,
    /// where no number needs it, and some fields go on after the last number. A field is accepted when every reader
    /// interprets it in the same way: the numbers that are needed come first in it, and the others repeat those of the
    /// header.
    private static func complete(
        _ numbers: [UInt64],
        needed: [Int],
        from field: ArraySlice<UInt8>?,
        of header: String,
        entry: String
    ) throws(ZipError) -> [UInt64] {
        guard let field else {
            guard needed.isEmpty else { throw invalid(entry, "has no zip64 field in its \(header) and needs one") }
            return numbers
        }
        // Some readers expect all numbers, each at its place, and others only those that are needed. They take the same
        // ones if these are the first, or if the field has no room for more.
        let isInPlace = needed.elementsEqual(needed.indices)
        let length = needed.reduce(0) { $0 + width(of: $1) }
        guard field.count >= length, isInPlace || field.count < length + 8 else {
            throw invalid(
                entry,
                "has a zip64 field of \(field.count) bytes in its \(header) where \(length) are needed"
            )
        }
        var all = numbers
        var rest = field
        for index in needed {
            all[index] = number(index, at: 0, of: rest)
            rest = rest.dropFirst(width(of: index))
        }
        guard !isInPlace || repeats(all, field) else {
            throw invalid(entry, "has a zip64 field that contradicts its \(header)")
        }
        return all
    }

    /// Whether the numbers of a field, each at its place, are these ones, or zeros, which stand for numbers that are not
    /// known yet.
    private static func repeats(_ numbers: [UInt64], _ field: ArraySlice<UInt8>) -> Bool {
        numbers.indices.allSatisfy { index in
            guard field.count >= index * 8 + width(of: index) else { return true }
            return [0, numbers[index]].contains(number(index, at: index * 8, of: field))
        }
    }

    /// The length of a number in a field, in bytes; the fourth number is the disk.
    private static func width(of index: Int) -> Int { index == 3 ? 4 : 8 }

    private static func number(_ index: Int, at offset: Int, of field: ArraySlice<UInt8>) -> UInt64 {
        index == 3 ? UInt64(field.field(offset, as: UInt32.self)) : field.field(offset, as: UInt64.self)
    }

    private static func invalid(_ entry: String, _ problem: String) -> ZipError {
        ZipError(.invalidZip64, entry: entry, "\(problem); fetch or create the archive again")
    }
}
