import Foundation

@testable import WaystationArchive

/// Headers: zip64 and other extra fields, flags, descriptors, local headers that differ.
extension OddArchive {
    /// The page, whose header has no room for its size, or for both sizes.
    private static func wide(sizes: Int) -> RawEntry {
        page.with {
            $0.size32 = .max
            if sizes == 2 { $0.compressedSize32 = .max }
        }
    }

    /// Zip64 fields, needed and not needed.
    static let zip64: [OddArchive] = [
        OddArchive("empty zip64 field", [page.with { $0.extra = RawEntry.zip64() }]),
        OddArchive("empty zip64 field in the local header alone", [page.with { $0.localExtra = RawEntry.zip64() }]),
        OddArchive("zip64 field of zeros", [page.with { $0.extra = RawEntry.zip64(0, 0) }]),
        OddArchive("zip64 field of half a number", [page.with { $0.extra = RawEntry.field(1, [1, 2, 3]) }]),
        OddArchive(
            "zip64 field that repeats the sizes",
            [page.with { $0.extra = RawEntry.zip64($0.size, $0.compressedSize) }]
        ),
        OddArchive(
            "zip64 field longer than all numbers",
            [
                page.with { $0.extra = RawEntry.zip64($0.size, $0.compressedSize, 0, 0, 7) }
            ]
        ),
        OddArchive(
            "zip64 field with other sizes",
            [page.with { $0.extra = RawEntry.zip64(1, 1) }],
            .refused(.invalidZip64, because: "a reader that uses the field sees another file")
        ),
        OddArchive(
            "stored with a descriptor of 64 bits and a zip64 field of zeros",
            [
                script.describedBehind(wide: true).with {
                    ($0.localSize, $0.localCompressedSize, $0.localExtra) = (.max, .max, RawEntry.zip64(0, 0))
                },
                page,
            ]
        ),
        OddArchive(
            "placeholders for the sizes without a zip64 field",
            [script.describedBehind().with { ($0.localSize, $0.localCompressedSize) = (.max, .max) }, page],
            .disputed(.invalidZip64)
        ),
        OddArchive("zip64 field twice, empty", [page.with { $0.extra = RawEntry.zip64() + RawEntry.zip64() }]),
        OddArchive(
            "zip64 field that is needed, twice",
            [
                wide(sizes: 2).with {
                    $0.extra = RawEntry.zip64($0.size, $0.compressedSize)
                    $0.extra += $0.extra
                }
            ]
        ),
        OddArchive(
            "two zip64 fields with other sizes",
            [
                wide(sizes: 2).with {
                    $0.extra = RawEntry.zip64($0.size, $0.compressedSize) + RawEntry.zip64(1, 2)
                }
            ],
            .refused(.damagedExtraField, because: "readers may differ in which of the two they take")
        ),
        OddArchive("zip64 field with the size alone", [wide(sizes: 1).with { $0.extra = RawEntry.zip64($0.size) }]),
        OddArchive(
            "zip64 field with the size alone, in the local header alone",
            [page.with { ($0.localSize, $0.localExtra) = (.max, RawEntry.zip64($0.size)) }]
        ),
        OddArchive(
            "zip64 field with the compressed size alone",
            [page.with { ($0.compressedSize32, $0.extra) = (.max, RawEntry.zip64($0.compressedSize)) }]
        ),
        OddArchive(
            "compressed size in the second place of a zip64 field",
            [page.with { ($0.compressedSize32, $0.extra) = (.max, RawEntry.zip64($0.size, $0.compressedSize)) }],
            .disputed(.invalidZip64)
        ),
        OddArchive(
            "compressed size in the second place of the local header's zip64 field",
            [
                page.with {
                    ($0.localCompressedSize, $0.localExtra) = (.max, RawEntry.zip64($0.size, $0.compressedSize))
                }
            ],
            .disputed(.invalidZip64)
        ),
        OddArchive(
            "zip64 field with the sizes and a disk",
            [
                wide(sizes: 2).with {
                    $0.extra = RawEntry.field(
                        1,
                        Array(RawEntry.zip64($0.size, $0.compressedSize).dropFirst(4)) + [0, 0, 0, 0]
                    )
                }
            ]
        ),
        OddArchive(
            "zip64 field with the size and seven bytes more",
            [
                wide(sizes: 1).with {
                    $0.extra = RawEntry.field(1, Array(RawEntry.zip64($0.size).dropFirst(4)) + [7, 7, 7, 7, 7, 7, 7])
                }
            ]
        ),
        OddArchive(
            "zip64 field that is needed, longer than all numbers",
            [wide(sizes: 2).with { $0.extra = RawEntry.zip64($0.size, $0.compressedSize, 0, 0, 7) }]
        ),
        OddArchive(
            "zip64 field with the sizes, and zero for the offset of a later entry",
            [script, wide(sizes: 2).with { $0.extra = RawEntry.zip64($0.size, $0.compressedSize, 0) }]
        ),
        OddArchive(
            "zip64 field with the sizes and another offset",
            [wide(sizes: 2).with { $0.extra = RawEntry.zip64($0.size, $0.compressedSize, 99) }],
            .refused(.invalidZip64, because: "a reader that uses the field finds another file")
        ),
        OddArchive(
            "zip64 field with the offset alone",
            [page.with { ($0.offset, $0.extra, $0.localExtra) = (.max, RawEntry.zip64(0), []) }]
        ),
        OddArchive(
            "zip64 field with all numbers where the offset is needed",
            [
                page.with {
                    ($0.offset, $0.localExtra) = (.max, [])
                    $0.extra = RawEntry.zip64($0.size, $0.compressedSize, 0)
                }
            ],
            .disputed(.invalidZip64)
        ),
        OddArchive(
            "zip64 fields with all numbers and a disk",
            [
                wide(sizes: 2).with {
                    ($0.offset, $0.disk) = (.max, .max)
                    $0.localExtra = RawEntry.zip64($0.size, $0.compressedSize)
                    $0.extra = RawEntry.field(
                        1,
                        Array(RawEntry.zip64($0.size, $0.compressedSize, 0).dropFirst(4)) + [0, 0, 0, 0]
                    )
                }
            ]
        ),
        OddArchive(
            "zip64 field of zeros in the local header, as a place for later",
            [page.with { ($0.localExtra, $0.extra) = (RawEntry.zip64(0, 0), []) }]
        ),
        OddArchive(
            "zip64 field with other sizes in the local header",
            [page.with { ($0.localExtra, $0.extra) = (RawEntry.zip64(5, 6), []) }],
            .refused(.invalidZip64, because: "a reader from front to back may use the field")
        ),
    ]

    /// Other extra fields and numbers.
    static let extraFields: [OddArchive] = [
        OddArchive("extra field without bytes, as of Java", [page.with { $0.extra = RawEntry.field(0xCAFE, []) }]),
        OddArchive(
            "times of Windows and of Unix",
            [
                page.with {
                    $0.extra = RawEntry.field(0x000A, [UInt8](repeating: 0, count: 32))
                    $0.localExtra = RawEntry.field(0x5855, [UInt8](repeating: 0, count: 12))
                }
            ]
        ),
        OddArchive("zeros that align the data", [page.with { $0.localExtra = [0, 0, 0] }]),
        OddArchive(
            "extra field that runs past its header",
            [page.with { $0.extra = [1, 0x99, 200, 0, 1] }],
            .disputed(.damagedExtraField)
        ),
        OddArchive("a byte behind the extra fields", [page.with { $0.extra = [7] }], .disputed(.damagedExtraField)),
        OddArchive("no date", [page.with { $0.time = 0 }]),
        OddArchive("a date and a time that do not exist", [page.with { $0.time = .max }]),
        OddArchive("comment of an entry", [page.with { $0.comment = Array("comment".utf8) }]),
        OddArchive("low version", [page.with { $0.neededVersion = 0 }]),
        OddArchive("version of zip64 where nothing needs it", [page.with { $0.neededVersion = 45 }]),
        OddArchive("host in the needed version", [page.with { $0.neededVersion = 3 << 8 | 20 }]),
        OddArchive(
            "version that unzip does not know",
            [page.with { $0.neededVersion = 63 }],
            .decided(["index.html"], because: "the methods that are read here need version 2.0; the number is not used")
        ),
        OddArchive(
            "another disk",
            [page.with { $0.disk = 1 }],
            .refused(.multipleDisks, because: "it belongs to an archive in several parts")
        ),
        OddArchive(
            "unknown extra field twice",
            [page.with { $0.extra = RawEntry.field(0x9999, [1]) + RawEntry.field(0x9999, [2]) }]
        ),
        OddArchive(
            "zeros that are fields without bytes",
            [page.with { $0.localExtra = [UInt8](repeating: 0, count: 3_000) }]
        ),
        OddArchive(
            "time field without a time",
            [page.with { $0.extra = RawEntry.field(0x5455, []) }],
            .decided(["index.html"], because: "times are not used; bsdtar gives up")
        ),
        OddArchive(
            "extra field that runs past the local header",
            [page.with { $0.localExtra = [1, 0x99, 200, 0, 1] }],
            .disputed(.damagedExtraField)
        ),
        OddArchive(
            "mode of a file in Info-ZIP's field",
            [
                page.with {
                    $0.extra = RawEntry.field(0x756E, [0, 0, 0, 0, 0xA4, 0x81] + [UInt8](repeating: 0, count: 8))
                }
            ]
        ),
    ]

    /// Flags, in one header or in both.
    static let flags: [OddArchive] = [
        OddArchive("UTF-8 flag in the directory alone", [page.with { ($0.flags, $0.localFlags) = (1 << 11, 0) }]),
        OddArchive("UTF-8 flag in the local header alone", [page.with { $0.localFlags = 1 << 11 }]),
        OddArchive(
            "UTF-8 flag in the directory alone, of another name",
            [file("ü").with { ($0.flags, $0.localFlags) = (1 << 11, 0) }],
            .disputed(.headerMismatch)
        ),
        OddArchive("compressor's effort in the directory alone", [page.with { ($0.flags, $0.localFlags) = (6, 0) }]),
        OddArchive("flags without a meaning", [page.with { $0.flags = 0b1101_0111_1001_0000 }]),
        OddArchive("flag of patched data", [page.with { $0.flags = 1 << 5 }], .disputed(.unsupportedFlags)),
        OddArchive("encrypted", [page.with { $0.flags = 1 }], .disputed(.encrypted)),
        OddArchive(
            "UTF-8 flag in the local header alone, of another name",
            [file("ü").with { $0.localFlags = 1 << 11 }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "encrypted in the local header alone",
            [page.with { $0.localFlags = 1 }],
            .disputed(.headerMismatch)
        ),
        OddArchive("strong encryption", [page.with { $0.flags = 1 << 6 }], .disputed(.encrypted)),
        OddArchive(
            "masked local header",
            [page.with { $0.flags = 1 << 13 }],
            .refused(.encrypted, because: "the flag says that the directory is encrypted, and is set on nothing else")
        ),
        OddArchive(
            "flag of patched data in the local header alone",
            [page.with { $0.localFlags = 1 << 5 }],
            .refused(.headerMismatch, because: "a reader from front to back cannot read the data")
        ),
    ]

    /// Descriptors behind the data.
    static let descriptors: [OddArchive] = [
        OddArchive(
            "descriptor flag in the local header alone",
            [
                script.describedBehind().with { ($0.flags, $0.localFlags) = (0, 8) }, page,
            ]
        ),
        OddArchive(
            "descriptor flag in the directory alone, without a descriptor",
            [
                script.with { ($0.flags, $0.localFlags) = (8, 0) }, page,
            ]
        ),
        OddArchive(
            "descriptor flag in the directory alone, with a descriptor",
            [
                script.describedBehind().with {
                    $0.localFlags = 0
                    ($0.localCRC32, $0.localSize, $0.localCompressedSize) = (nil, nil, nil)
                },
                page,
            ]
        ),
        OddArchive(
            "descriptor flag without a descriptor",
            [script.with { $0.flags = 8 }, page],
            .disputed(.descriptorMismatch)
        ),
        OddArchive(
            "descriptor and numbers",
            [
                script.describedBehind().with {
                    ($0.localCRC32, $0.localSize, $0.localCompressedSize) = (nil, nil, nil)
                },
                page,
            ]
        ),
        OddArchive("descriptor without a signature", [script.describedBehind(signed: false), page]),
        OddArchive(
            "no numbers and no descriptor",
            [
                script.with { ($0.localCRC32, $0.localSize, $0.localCompressedSize) = (0, 0, 0) }
            ],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "descriptors of 64 bits, without and with a signature",
            [
                script.describedBehind(signed: false, wide: true), page.describedBehind(wide: true),
            ]
        ),
        OddArchive("stored with a descriptor, last", [page, script.describedBehind()]),
        OddArchive("empty file with a descriptor", [file("none.txt", "").describedBehind(), page]),
        OddArchive("descriptor and bytes behind it", [page.describedBehind(), script.with { $0.gap = [0, 0, 0] }]),
        OddArchive(
            "descriptor that no flag announces",
            [page.with { $0.descriptor = page.describedBehind().descriptor }, script]
        ),
        OddArchive(
            "empty file with the descriptor flag and no descriptor",
            [file("none.txt", "").with { $0.flags = 8 }, page],
            .disputed(.descriptorMismatch)
        ),
        OddArchive(
            "descriptor with another checksum",
            [page.describedBehind { $0[4] ^= 1 }, script],
            .refused(.descriptorMismatch, because: "a reader from front to back takes its numbers from the descriptor")
        ),
        OddArchive(
            "descriptor of zeros",
            [page.describedBehind { $0 = Array($0.prefix(4)) + [UInt8](repeating: 0, count: 12) }, script],
            .refused(.descriptorMismatch, because: "a reader from front to back takes its numbers from the descriptor")
        ),
        OddArchive(
            "descriptor flag in the directory alone, and no numbers in the local header",
            [page.describedBehind().with { $0.localFlags = 0 }, script],
            .disputed(.headerMismatch)
        ),
    ]

    /// Local headers that differ from the directory.
    static let localHeaders: [OddArchive] = [
        OddArchive(
            "another name in the local header",
            [file("a").with { $0.localName = [0x62] }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "the same name in another form in the local header",
            [file("a").with { $0.localName = Array("./a".utf8) }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "another time in the local header",
            [page.with { $0.localExtra = RawEntry.field(0x5455, [1, 0, 0, 0, 0]) }]
        ),
        OddArchive(
            "name in another case in the local header",
            [file("a").with { $0.localName = [0x41] }],
            .disputed(.headerMismatch)
        ),
        OddArchive("no name in the local header", [file("a").with { $0.localName = [] }], .disputed(.headerMismatch)),
        OddArchive(
            "another method in the local header",
            [page.with { $0.localMethod = 0 }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "another checksum in the local header",
            [page.with { $0.localCRC32 = 1 }],
            .disputed(.headerMismatch)
        ),
        OddArchive("another size in the local header", [page.with { $0.localSize = 1 }], .disputed(.headerMismatch)),
        OddArchive(
            "another compressed size in the local header",
            [page.with { $0.localCompressedSize = 1 }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "no size in the local header",
            [page.with { $0.localSize = 0 }],
            .refused(.headerMismatch, because: "a reader from front to back expects no bytes")
        ),
    ]
}
