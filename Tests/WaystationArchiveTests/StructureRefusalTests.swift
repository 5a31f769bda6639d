import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationArchive

@Suite("Structures that are refused")
struct StructureRefusalTests {
    private static let sound = RawEntry("a.txt", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", deflated: true)
    private static let stored = RawEntry("b.txt", "stored")

    /// An archive of the two sound entries, changed.
    private static func zip(_ change: (inout RawZip) -> Void) -> RawZip {
        var zip = RawZip([sound, stored])
        change(&zip)
        return zip
    }

    private static let kinds: [Refusal] = [
        Refusal("symbolic link", .symbolicLink, stored.with { $0.attributes = 0o120_777 << 16 }),
        Refusal(
            "symbolic link made on MS-DOS",
            .symbolicLink,
            stored.with { ($0.host, $0.attributes) = (0, 0o120_777 << 16) }
        ),
        Refusal(
            "symbolic link made on macOS",
            .symbolicLink,
            stored.with { ($0.host, $0.attributes) = (19, 0o120_777 << 16) }
        ),
        Refusal("reparse point", .symbolicLink, stored.with { ($0.host, $0.attributes) = (10, 0x400) }),
        Refusal(
            "link in Info-ZIP's field",
            .symbolicLink,
            stored.with {
                $0.extra = RawEntry.field(0x756E, [0, 0, 0, 0, 0xFF, 0xA1] + [UInt8](repeating: 0, count: 8))
            }
        ),
        Refusal(
            "link in PKWARE's field",
            .symbolicLink,
            stored.with { $0.extra = RawEntry.field(0x000D, [UInt8](repeating: 0, count: 12) + Array("/etc".utf8)) }
        ),
        Refusal("pipe", .specialFile, RawEntry("b.txt", "").with { $0.attributes = 0o010_644 << 16 }),
        Refusal("character device", .specialFile, stored.with { $0.attributes = 0o020_644 << 16 }),
        Refusal("block device", .specialFile, stored.with { $0.attributes = 0o060_644 << 16 }),
        Refusal("socket", .specialFile, RawEntry("b.txt", "").with { $0.attributes = 0o140_644 << 16 }),
        Refusal(
            "directory that was read from a pipe",
            .kindMismatch,
            stored.with { ($0.name, $0.attributes) = (Array("d/".utf8), 0o010_600 << 16) }
        ),
        Refusal("directory by mode alone", .kindMismatch, stored.with { $0.attributes = 0o040_755 << 16 }),
        Refusal("directory by attribute alone", .kindMismatch, stored.with { ($0.host, $0.attributes) = (0, 0x10) }),
        Refusal(
            "directory with contents",
            .kindMismatch,
            stored.with { ($0.name, $0.attributes) = (Array("d/".utf8), 0o040_755 << 16) }
        ),
        Refusal(
            "directory with a size and a CRC",
            .kindMismatch,
            RawEntry("d/").with { ($0.size, $0.crc32) = (4_096, 1) }
        ),
        Refusal(
            "directory with a size and data",
            .kindMismatch,
            RawEntry("d/").with { ($0.size, $0.data, $0.compressedSize) = (4_096, [3, 0], 2) }
        ),
        Refusal(
            "directory with two sizes",
            .headerMismatch,
            RawEntry("d/").with { ($0.size, $0.localSize) = (4_096, 64) }
        ),
        Refusal("encrypted", .encrypted, stored.with { $0.flags |= 1 }),
        Refusal("strongly encrypted", .encrypted, stored.with { $0.flags |= 1 << 6 }),
        Refusal("masked header", .encrypted, stored.with { $0.flags |= 1 << 13 }),
        Refusal(
            "strong encryption field",
            .encrypted,
            stored.with { $0.extra = RawEntry.field(0x0017, [UInt8](repeating: 0, count: 8)) }
        ),
        Refusal(
            "AES field",
            .encrypted,
            stored.with { $0.extra = RawEntry.field(0x9901, [UInt8](repeating: 0, count: 7)) }
        ),
        Refusal("patched data", .unsupportedFlags, stored.with { $0.flags |= 1 << 5 }),
        Refusal("shrunk", .unsupportedMethod, stored.with { $0.method = 1 }),
        Refusal("deflate64", .unsupportedMethod, stored.with { $0.method = 9 }),
        Refusal("bzip2", .unsupportedMethod, stored.with { $0.method = 12 }),
        Refusal("AES", .unsupportedMethod, stored.with { $0.method = 99 }),
        Refusal("zstd", .unsupportedMethod, stored.with { $0.method = 93 }),
        Refusal("extra field too long", .damagedExtraField, stored.with { $0.extra = [1, 0x99, 200, 0, 1] }),
        Refusal("bytes behind extra fields", .damagedExtraField, stored.with { $0.extra = [7] }),
        Refusal(
            "extra field twice, with different bytes",
            .damagedExtraField,
            stored.with { $0.extra = RawEntry.zip64() + RawEntry.zip64(0) }
        ),
    ]

    private static let disagreeing: [Refusal] = [
        Refusal("name", .headerMismatch, stored.with { $0.localName = Array("c.txt".utf8) }),
        Refusal("name's length", .headerMismatch, stored.with { $0.localName = Array("b.txt2".utf8) }),
        Refusal("method", .headerMismatch, stored.with { $0.localMethod = 8 }),
        Refusal("UTF-8 flag", .headerMismatch, RawEntry("\u{E9}").with { $0.localFlags = 0 }),
        Refusal(
            "UTF-8 flag in the local header",
            .headerMismatch,
            RawEntry("\u{E9}").with {
                ($0.localFlags, $0.flags) = ($0.flags, 0)
            }
        ),
        Refusal("patch flag", .headerMismatch, stored.with { $0.localFlags = $0.flags | 1 << 5 }),
        Refusal(
            "descriptor flag in the local header, without a descriptor",
            .descriptorMismatch,
            stored.with { $0.localFlags = $0.flags | 8 }
        ),
        Refusal(
            "descriptor flag in the directory, and no numbers in the local header",
            .headerMismatch,
            stored.with {
                ($0.localFlags, $0.flags) = ($0.flags, $0.flags | 8)
                ($0.localCRC32, $0.localSize, $0.localCompressedSize) = (0, 0, 0)
            }
        ),
        Refusal("encryption flag", .headerMismatch, stored.with { $0.localFlags = $0.flags | 1 }),
        Refusal("CRC", .headerMismatch, stored.with { $0.localCRC32 = 1 }),
        Refusal("size", .headerMismatch, stored.with { $0.localSize = 7 }),
        Refusal("compressed size", .headerMismatch, sound.with { $0.localCompressedSize = 7 }),
        Refusal("zero sizes without a descriptor", .headerMismatch, stored.with { $0.localSize = 0 }),
        Refusal("CRC ahead of a descriptor", .headerMismatch, stored.describedBehind().with { $0.localCRC32 = 9 }),
        Refusal("size ahead of a descriptor", .headerMismatch, stored.describedBehind().with { $0.localSize = 9 }),
        Refusal("no local header", .missingLocalHeader, stored.with { $0.localSignature = 0x0403_4B51 }),
        Refusal(
            "local header elsewhere",
            .missingLocalHeader,
            stored.with { ($0.gap, $0.offset) = (.init(repeating: 0, count: 100), 60) }
        ) {
            $0.toleratedJunk = .between
        },
        Refusal("stored with two sizes", .sizeMismatch, stored.with { ($0.size, $0.localSize) = (9, 9) }),
        Refusal("descriptor's CRC", .descriptorMismatch, stored.describedBehind { $0[4] ^= 1 }),
        Refusal("descriptor's compressed size", .descriptorMismatch, stored.describedBehind { $0[8] ^= 1 }),
        Refusal("descriptor's size", .descriptorMismatch, stored.describedBehind { $0[12] ^= 1 }),
        Refusal("wide descriptor's size", .descriptorMismatch, stored.describedBehind(wide: true) { $0[23] ^= 1 }),
        Refusal("bare descriptor's CRC", .descriptorMismatch, stored.describedBehind(signed: false) { $0[0] ^= 1 }),
        Refusal("no descriptor", .descriptorMismatch, stored.describedBehind { $0 = [] }),
        Refusal("no descriptor of an empty file", .descriptorMismatch, RawEntry("e", "").describedBehind { $0 = [] }),
        Refusal("cut descriptor", .descriptorMismatch, stored.describedBehind { $0.removeLast() }),
    ]

    private static let places: [Refusal] = [
        Refusal(
            "two entries in one place",
            .overlap,
            RawZip([stored, stored.with { ($0.name, $0.localName, $0.offset) = (Array("c.txt".utf8), stored.name, 0) }])
        ),
        Refusal(
            "data run into the next entry",
            .overlap,
            zip { zip in
                zip.entries = [stored.with { ($0.size, $0.compressedSize) = (12, 12) }, sound]
            }
        ),
        Refusal("data run into the directory", .overlap, stored.with { ($0.size, $0.compressedSize) = (12, 12) }),
        Refusal("data run out of the file", .outsideFile, sound.with { $0.compressedSize = 100_000 }),
        Refusal("entry in the directory", .overlap, RawZip([stored.with { $0.offset = 45 }])),
        Refusal("entry outside the file", .outsideFile, stored.with { $0.offset = 0x7FFF_FFFF }),
        Refusal(
            "entry beyond all numbers",
            .outsideFile,
            stored.with { ($0.offset, $0.extra, $0.localExtra) = (.max, RawEntry.zip64(UInt64(Int64.max)), []) }
        ),
        Refusal(
            "entry beyond all signed numbers",
            .outsideFile,
            stored.with { ($0.offset, $0.extra, $0.localExtra) = (.max, RawEntry.zip64(.max), []) }
        ),
        Refusal(
            "compressed size beyond all signed numbers",
            .outsideFile,
            sound.with { ($0.compressedSize32, $0.extra) = (.max, RawEntry.zip64(.max)) }
        ),
        Refusal("entry on another disk", .multipleDisks, stored.with { $0.disk = 1 }),
        Refusal("an archive ahead", .leadingJunk, zip { $0.leading = hidden }),
        Refusal(
            "an archive ahead, not counted",
            .leadingJunk,
            zip { ($0.leading, $0.countsLeading) = (hidden, false) }
        ),
        Refusal("an entry between entries", .junkBetweenEntries, stored.with { $0.gap = stored.local }),
        Refusal("an entry ahead of the directory", .junkBetweenEntries, zip { $0.beforeDirectory = stored.local }),
        Refusal("an entry ahead of no other", .leadingJunk, RawZip([]).with { $0.beforeDirectory = stored.local }),
        Refusal("an archive cut short behind", .trailingJunk, zip { $0.trailing = hidden.dropLast() }),
        Refusal("an entry behind", .trailingJunk, zip { $0.trailing = [0] + stored.local }),
        Refusal(
            "a signature across two windows of the search",
            .leadingJunk,
            zip { $0.leading = [UInt8](repeating: 0, count: (64 << 10) - 2) + [0x50, 0x4B, 3, 4] }
        ),
        Refusal(
            "a directory's header at the end of the junk",
            .junkBetweenEntries,
            stored.with { $0.gap = [0, 0x50, 0x4B, 1, 2] }
        ),
    ]

    /// Another archive, which a reader could find.
    private static let hidden = Array(RawZip([RawEntry("hidden")]).data)

    private static let ends: [Refusal] = [
        Refusal(
            "junk in the directory",
            .damagedDirectory,
            zip { $0.directoryTail = [UInt8](repeating: 0, count: 46) }
        ),
        Refusal("too few entries", .damagedDirectory, zip { ($0.end.entries, $0.end.entriesOnDisk) = (1, 1) }),
        Refusal("too many entries", .damagedDirectory, zip { ($0.end.entries, $0.end.entriesOnDisk) = (3, 3) }),
        Refusal("65,535 entries", .damagedDirectory, zip { ($0.end.entries, $0.end.entriesOnDisk) = (.max, .max) }),
        Refusal("directory's signature", .damagedDirectory, RawZip([stored.with { $0.centralSignature = 0 }])),
        Refusal("directory too long", .damagedDirectory, zip { $0.end.size = 5_000 }),
        Refusal("directory too short", .damagedDirectory, zip { $0.end.size = 50 }),
        Refusal("directory too late", .damagedDirectory, zip { $0.end.offset = 5_000 }),
        Refusal("directory too early", .leadingJunk, zip { $0.end.offset = 3 }),
        Refusal("directory beyond all numbers", .invalidZip64, zip { ($0.end.offset, $0.end.size) = (.max, .max) }),
        Refusal("offset that only a zip64 record could state", .invalidZip64, zip { $0.end.offset = .max }),
        Refusal("disk", .multipleDisks, zip { $0.end.disk = 1 }),
        Refusal("directory's disk", .multipleDisks, zip { $0.end.directoryDisk = 1 }),
        Refusal("entries on this disk", .multipleDisks, zip { $0.end.entriesOnDisk = 1 }),
        Refusal("comment too long", .notAnArchive, zip { $0.end.commentLength = 5 }),
        Refusal(
            "comment too short for an archive in it",
            .leadingJunk,
            zip { ($0.comment, $0.end.commentLength) = (hidden, 2) }
        ),
        Refusal("end record in a comment", .ambiguousEnd, zip { $0.comment = Array(RawZip([]).data) }),
        Refusal("archive in a comment", .ambiguousEnd, zip { $0.comment = Array(RawZip([sound]).data) }),
    ]

    private static let wide: [Refusal] = [
        Refusal("no record", .invalidZip64, zip { $0.zip64 = .init(recordSignature: 0) }),
        Refusal("version 2", .invalidZip64, zip { $0.zip64 = .init(recordSize: 100) }),
        Refusal("locator's offset", .invalidZip64, zip { $0.zip64 = .init(locatorOffset: .max) }),
        Refusal("locator's other offset", .invalidZip64, zip { $0.zip64 = .init(locatorOffset: 3) }),
        Refusal("locator's disk", .multipleDisks, zip { $0.zip64 = .init(locatorDisk: 1) }),
        Refusal("locator's disks", .multipleDisks, zip { $0.zip64 = .init(locatorDisks: 2) }),
        Refusal("disk", .invalidZip64, zip { $0.zip64 = .init(disk: 1) }),
        Refusal("disk of both", .multipleDisks, zip { ($0.zip64, $0.end.disk) = (.init(disk: 1), 1) }),
        Refusal("entries", .invalidZip64, zip { $0.zip64 = .init(entries: 1) }),
        Refusal(
            "entries without number",
            .damagedDirectory,
            zip {
                $0.zip64 = .init(entriesOnDisk: .max, entries: .max)
                ($0.end.entries, $0.end.entriesOnDisk) = (.max, .max)
            }
        ),
        Refusal("size", .invalidZip64, zip { $0.zip64 = .init(size: 1) }),
        Refusal("size without number", .invalidZip64, zip { ($0.zip64, $0.end.size) = (.init(size: .max), .max) }),
        Refusal("offset", .invalidZip64, zip { $0.zip64 = .init(offset: 1) }),
        Refusal(
            "offset without number",
            .invalidZip64,
            zip { ($0.zip64, $0.end.offset) = (.init(offset: .max), .max) }
        ),
        Refusal("no field", .invalidZip64, sound.with { $0.size32 = .max }),
        Refusal("empty field", .invalidZip64, sound.with { ($0.size32, $0.extra) = (.max, RawEntry.zip64()) }),
        Refusal(
            "field not needed, with another size",
            .invalidZip64,
            sound.with { ($0.extra, $0.localExtra) = (RawEntry.zip64($0.size + 1), []) }
        ),
        Refusal(
            "field too long, with another compressed size",
            .invalidZip64,
            sound.with {
                ($0.size32, $0.extra) = (.max, RawEntry.zip64($0.size, $0.compressedSize + 1))
                $0.localExtra = RawEntry.zip64($0.size, $0.compressedSize)
            }
        ),
        Refusal("field too long, with another offset", .invalidZip64, allNumbers(offset: 1)),
        Refusal("field too long, with another disk", .invalidZip64, allNumbers(disk: [1, 0, 0, 0])),
        Refusal("field of more than all numbers, with another disk", .invalidZip64, allNumbers(disk: [1, 0, 0, 0, 0])),
        // Taken in sequence, the first number would be the offset; taken by position, the size.
        Refusal(
            "field that can be read in two ways",
            .invalidZip64,
            sound.with {
                ($0.offset, $0.extra) = (.max, RawEntry.zip64($0.size, $0.compressedSize, 0))
                $0.localExtra = []
            }
        ),
        Refusal(
            "local field with another offset",
            .invalidZip64,
            sound.with {
                ($0.size32, $0.compressedSize32) = (.max, .max)
                $0.extra = RawEntry.zip64($0.size, $0.compressedSize)
                $0.localExtra = RawEntry.zip64($0.size, $0.compressedSize, 1)
            }
        ),
        Refusal(
            "no local field",
            .invalidZip64,
            sound.with {
                ($0.size32, $0.extra, $0.localExtra) = (.max, RawEntry.zip64($0.size), [])
            }
        ),
        Refusal(
            "short local field",
            .invalidZip64,
            sound.with {
                ($0.size32, $0.extra) = (.max, RawEntry.zip64($0.size))
                $0.localExtra = RawEntry.field(1, [0, 0, 0, 0])
            }
        ),
        Refusal(
            "local field that can be read in two ways",
            .invalidZip64,
            sound.with {
                ($0.localCompressedSize, $0.localExtra) = (.max, RawEntry.zip64($0.size, $0.compressedSize))
            }
        ),
        Refusal(
            "field not needed, with another offset",
            .invalidZip64,
            sound.with { ($0.extra, $0.localExtra) = (RawEntry.zip64($0.size, $0.compressedSize, 1), []) }
        ),
        Refusal("contradicting local field", .invalidZip64, sound.with { $0.localExtra = RawEntry.zip64(1, 2) }),
        Refusal(
            "another size in the local field",
            .headerMismatch,
            sound.with {
                ($0.size32, $0.extra) = (.max, RawEntry.zip64($0.size))
                $0.localExtra = RawEntry.zip64($0.size + 1, $0.compressedSize)
            }
        ),
        Refusal(
            "another disk",
            .multipleDisks,
            sound.with {
                ($0.disk, $0.extra) = (.max, RawEntry.field(1, [1, 0, 0, 0]))
                $0.localExtra = []
            }
        ),
    ]

    /// An archive whose only entry has all numbers in its zip64 field, though the header has room for the offset.
    private static func allNumbers(offset: UInt64 = 0, disk: [UInt8] = [0, 0, 0, 0]) -> RawZip {
        RawZip([
            sound.with {
                ($0.size32, $0.compressedSize32) = (.max, .max)
                let numbers = RawEntry.zip64($0.size, $0.compressedSize, offset).dropFirst(4)
                $0.extra = RawEntry.field(1, Array(numbers) + disk)
                $0.localExtra = RawEntry.zip64($0.size, $0.compressedSize)
            }
        ])
    }

    private static let zeros = RawEntry(Array("zeros".utf8), [UInt8](repeating: 0, count: 3 << 20), deflated: true)

    private static let limits: [Refusal] = [
        Refusal("entries", .tooManyEntries, RawZip([sound, stored])) { $0.maximumEntries = 1 },
        Refusal("implied directories", .tooManyEntries, RawZip([RawEntry("a/b/c/d")])) { $0.maximumEntries = 3 },
        Refusal("size of an entry", .entryTooLarge, stored) { $0.maximumEntrySize = 7 },
        Refusal("size of all", .archiveTooLarge, RawZip([sound, stored])) { $0.maximumTotalSize = 49 },
        Refusal(
            "stated size beyond all numbers",
            .entryTooLarge,
            sound.with {
                ($0.size32, $0.extra) = (.max, RawEntry.zip64(.max))
            }
        ),
        Refusal("ratio of an entry", .ratioTooHigh, zeros),
        Refusal(
            "ratio of all",
            .ratioTooHigh,
            RawZip(
                (0..<8).map { number in
                    RawEntry(Array("\(number)".utf8), [UInt8](repeating: 0, count: 1 << 18), deflated: true)
                }
            )
        ),
        Refusal("ratio to nothing", .ratioTooHigh, RawEntry("x", "").with { ($0.method, $0.size) = (8, 2 << 20) }),
    ]

    @Test("An entry that is neither a plain file nor a directory is refused", arguments: kinds)
    func kind(_ refusal: Refusal) { expect(refusal) }

    @Test("An entry whose headers contradict each other is refused", arguments: disagreeing)
    func disagreement(_ refusal: Refusal) { expect(refusal) }

    @Test("An entry that overlaps another structure or lies outside the archive is refused", arguments: places)
    func place(_ refusal: Refusal) { expect(refusal) }

    @Test("An end record with a wrong number is refused", arguments: ends)
    func end(_ refusal: Refusal) { expect(refusal) }

    @Test("An inexact zip64 form is refused", arguments: wide)
    func zip64(_ refusal: Refusal) { expect(refusal) }

    @Test("An archive that exceeds a limit is refused", arguments: limits)
    func limit(_ refusal: Refusal) { expect(refusal) }

    @Test(
        "Data that is not an archive is refused",
        arguments: [Data(), Data([0x50]), Data("PK\u{5}\u{6}".utf8), .random(70_000)]
    )
    func noArchive(_ data: Data) {
        let error = #expect(throws: ZipError.self) { try ZipArchive(DataSource(data)) }
        #expect(error?.code == .notAnArchive)
    }
}
