import Foundation

@testable import WaystationArchive

/// Bytes in odd places, and the records at the end.
extension OddArchive {
    /// Bytes ahead of, between and behind the entries.
    static let places: [OddArchive] = [
        OddArchive("zeros behind", RawZip([page]).with { $0.trailing = [UInt8](repeating: 0, count: 4_096) }),
        OddArchive("zeros behind a comment", RawZip([page]).with { ($0.comment, $0.trailing) = ([0x68], [0, 0, 0]) }),
        OddArchive("newline behind", RawZip([page]).with { $0.trailing = [0x0A] }),
        OddArchive(
            "65,535 bytes behind",
            RawZip([page]).with { $0.trailing = [UInt8](repeating: 0x78, count: 65_535) }
        ),
        OddArchive("script ahead", RawZip([page]).with { $0.leading = Array("#!/bin/sh\nexit\n".utf8) }),
        OddArchive(
            "script ahead, not counted",
            RawZip([page]).with { ($0.leading, $0.countsLeading) = (Array("#!/bin/sh\nexit\n".utf8), false) }
        ),
        OddArchive("marker of a split archive in one part", RawZip([page]).with { $0.leading = Array("PK00".utf8) }),
        OddArchive("zeros between entries", [page, script.with { $0.gap = [0, 0, 0] }]),
        OddArchive(
            "signing block ahead of the directory",
            RawZip([page]).with {
                $0.beforeDirectory = [32, 0, 0, 0, 0, 0, 0, 0] + Array("APK Sig Block 42".utf8)
            }
        ),
        OddArchive(
            "removed entry between entries",
            [page, script.with { $0.gap = file("removed").local }],
            .refused(.junkBetweenEntries, because: "a reader from front to back sees the removed entry")
        ),
        OddArchive(
            "archive ahead",
            RawZip([page]).with { $0.leading = Array(RawZip([script]).data) },
            .refused(.leadingJunk, because: "a reader from front to back sees the other archive")
        ),
        OddArchive(
            "directory in another order than the entries",
            RawZip([page, script]).with { $0.isReversed = true }
        ),
        OddArchive("marker of a split archive ahead", RawZip([page]).with { $0.leading = [0x50, 0x4B, 7, 8] }),
        OddArchive(
            "signature of an entry ahead",
            RawZip([page]).with { $0.leading = [0x50, 0x4B, 3, 4] },
            .refused(.leadingJunk, because: "a reader from front to back takes it for an entry")
        ),
        OddArchive("text between entries", [page, script.with { $0.gap = Array("text".utf8) }]),
        OddArchive(
            "one local header for two files",
            [script, script.with { $0.offset = 0 }],
            .disputed(.nameCollision)
        ),
        OddArchive(
            "70,000 bytes behind",
            RawZip([page]).with { $0.trailing = [UInt8](repeating: 0, count: 70_000) },
            .disputed(.notAnArchive)
        ),
        OddArchive("comment of an entry with a signature", [page.with { $0.comment = [0x50, 0x4B, 1, 2, 0, 0] }]),
        OddArchive(
            "zeros between the directory and the end record",
            RawZip([page]).with {
                ($0.directoryTail, $0.end.size) = ([0, 0, 0], UInt32(page.central(offset: 0).count))
            },
            .disputed(.damagedDirectory)
        ),
    ]

    /// Comments and end records.
    static let ends: [OddArchive] = [
        OddArchive("comment", RawZip([page]).with { $0.comment = Array("comment".utf8) }),
        OddArchive("no entries", RawZip([])),
        OddArchive(
            "comment that ends early",
            RawZip([page]).with { ($0.comment, $0.end.commentLength) = ([0x68, 0x69], 1) }
        ),
        OddArchive(
            "comment that the end record does not announce",
            RawZip([page]).with { ($0.comment, $0.end.commentLength) = ([0x68], 0) }
        ),
        OddArchive(
            "comment of 65,535 bytes",
            RawZip([page]).with { $0.comment = [UInt8](repeating: 0x63, count: 65_535) }
        ),
        OddArchive("comment with a signature of an entry", RawZip([page]).with { $0.comment = [0x50, 0x4B, 3, 4] }),
        OddArchive(
            "comment that is cut short",
            RawZip([page]).with { ($0.comment, $0.end.commentLength) = ([0x68], 9) },
            .refused(.notAnArchive, because: "the file is cut short, and 7z refuses it too")
        ),
        OddArchive(
            "comment with the signature of an end record",
            RawZip([page]).with { $0.comment = [0x50, 0x4B, 5, 6] },
            .decided(["index.html"], because: "four bytes are no end record; Python takes them for one")
        ),
        OddArchive("zip64 end record that nothing needs", RawZip([page]).with { $0.zip64 = .init() }),
        OddArchive(
            "zip64 end record with all numbers",
            RawZip([page]).with {
                ($0.zip64, $0.end) = (.init(), .init(entriesOnDisk: .max, entries: .max, size: .max, offset: .max))
            }
        ),
        OddArchive(
            "zip64 end record of no disks",
            RawZip([page]).with { $0.zip64 = .init(locatorDisks: 0) },
            .decided(["index.html"], because: "some writers put zero; Python and 7z read it, and bsdtar finds no file")
        ),
        OddArchive(
            "zip64 end record behind a script that is not counted",
            RawZip([page]).with {
                ($0.zip64, $0.leading, $0.countsLeading) = (.init(), Array("#!/bin/sh\n".utf8), false)
            },
            .decided(["index.html"], because: "unzip and Python read it, as without zip64; bsdtar finds no file")
        ),
        OddArchive(
            "fewer entries than the directory has",
            RawZip([page, script]).with { ($0.end.entries, $0.end.entriesOnDisk) = (1, 1) },
            .disputed(.damagedDirectory)
        ),
        OddArchive(
            "more entries than the directory has",
            RawZip([page]).with { ($0.end.entries, $0.end.entriesOnDisk) = (2, 2) },
            .disputed(.damagedDirectory)
        ),
        OddArchive(
            "directory that is too short",
            RawZip([page]).with { $0.end.size = 50 },
            .disputed(.damagedDirectory)
        ),
        OddArchive(
            "directory that is too long",
            RawZip([page]).with { $0.end.size = 500 },
            .disputed(.damagedDirectory)
        ),
        OddArchive(
            "second disk",
            RawZip([page]).with { $0.end.disk = 1 },
            .refused(.multipleDisks, because: "it belongs to an archive in several parts")
        ),
        OddArchive(
            "entries on other disks",
            RawZip([page]).with { $0.end.entriesOnDisk = 0 },
            .refused(.multipleDisks, because: "it belongs to an archive in several parts")
        ),
        OddArchive("no entries and a comment", RawZip([]).with { $0.comment = [0x68] }),
        OddArchive("no entries and zeros behind", RawZip([]).with { $0.trailing = [0, 0, 0] }),
        OddArchive("no entries with a zip64 end record", RawZip([]).with { $0.zip64 = .init() }),
        OddArchive("directories alone", [file("a/"), file("b/c/")]),
    ]
}
