import Foundation

@testable import WaystationArchive

/// Directories, links and other kinds of entries, and their data.
extension OddArchive {
    /// A directory whose writer deflates directories too.
    private static func deflatedDirectory(_ name: String) -> RawEntry {
        file(name).with { ($0.method, $0.data, $0.compressedSize) = (8, [3, 0], 2) }
    }

    /// Directories, some of them repeated.
    static let directories: [OddArchive] = [
        OddArchive("directory twice", [file("js/"), file("js/"), script]),
        OddArchive("directory twice, behind its file", [script, file("js/"), file("js/")]),
        OddArchive("directory twice, once below this directory", [file("js/"), file("./js/"), script]),
        OddArchive(
            "directory in two cases",
            [file("js/"), file("JS/")],
            .refused(.nameCollision, because: "they are one directory on other file systems")
        ),
        OddArchive("directory by name, file by mode", [file("d/").with { $0.attributes = 0o100_644 << 16 }]),
        OddArchive("directory by name alone", [file("d/").with { $0.attributes = 0 }]),
        OddArchive(
            "directory by mode alone",
            [file("d", "").with { $0.attributes = 0o040_755 << 16 }],
            .disputed(.kindMismatch)
        ),
        OddArchive(
            "directory by attribute alone",
            [dos("d", "").with { $0.attributes = 0x10 }],
            .disputed(.kindMismatch)
        ),
        OddArchive(
            "directory with the descriptor flag and no descriptor",
            [
                file("d/").with { ($0.flags, $0.attributes) = (8, 0x10) }, page,
            ]
        ),
        OddArchive("directory with a descriptor", [file("d/").describedBehind(), page]),
        OddArchive(
            "deflated directory",
            [file("d/").with { ($0.method, $0.data, $0.compressedSize) = (8, [3, 0], 2) }]
        ),
        OddArchive("directory with the size of its own file", [file("d/").with { $0.size = 4_096 }]),
        OddArchive(
            "directory with a size in the directory alone",
            [file("d/").with { ($0.size, $0.localSize) = (4_096, 0) }]
        ),
        OddArchive(
            "directory with contents",
            [script.with { ($0.name, $0.attributes) = (Array("d/".utf8), 0o040_755 << 16) }],
            .refused(.kindMismatch, because: "the others drop the contents without a word")
        ),
        OddArchive("directory twice, deflated", [deflatedDirectory("d/"), deflatedDirectory("d/"), file("d/a")]),
        OddArchive(
            "directory twice, deflated with descriptors, as of Java",
            [deflatedDirectory("d/").describedBehind(), deflatedDirectory("d/").describedBehind(), file("d/a")]
        ),
        OddArchive("this directory, deflated", [deflatedDirectory("./"), file("./a")]),
        OddArchive("directory three times", [file("d/"), file("d/"), file("d/"), file("d/a")]),
        OddArchive("directory twice, once with a size", [file("d/"), file("d/").with { $0.size = 4_096 }]),
        OddArchive("directory twice, once with two slashes", [file("d/"), file("d//"), file("d/a")]),
        OddArchive(
            "directory twice, with other data",
            [
                file("d/"),
                file("d/").with { ($0.method, $0.data, $0.compressedSize) = (8, [1, 0, 0, 0xFF, 0xFF], 5) },
            ],
            .refused(.nameCollision, because: "no reader checks the data of the second directory")
        ),
        OddArchive(
            "directory twice, with one local header",
            [file("d/"), file("d/").with { $0.offset = 0 }, file("d/a")],
            .refused(.overlap, because: "entries in one place are how small archives become large files")
        ),
        OddArchive(
            "directory with a descriptor without a signature",
            [file("d/").describedBehind(signed: false), page]
        ),
        OddArchive("directory with a descriptor of 64 bits", [file("d/").describedBehind(wide: true), page]),
        OddArchive(
            "directory with the descriptor flag and no descriptor, last",
            [page, file("d/").with { $0.flags = 8 }]
        ),
        OddArchive("deflated directory without data", [file("d/").with { $0.method = 8 }, page]),
        OddArchive("directory with an empty zip64 field", [file("d/").with { $0.extra = RawEntry.zip64() }]),
        OddArchive(
            "directory with a size in the local header alone",
            [file("d/").with { $0.localSize = 4_096 }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "directory with a checksum",
            [file("d/").with { $0.crc32 = 7 }],
            .refused(.checksumMismatch, because: "it has no bytes with this checksum")
        ),
        OddArchive(
            "directory that is compressed with bzip2",
            [file("d/").with { $0.method = 12 }],
            .refused(.unsupportedMethod, because: "no writer is known that does so")
        ),
        OddArchive(
            "directory that is compressed with LZMA",
            [file("d/").with { $0.method = 14 }],
            .disputed(.unsupportedMethod)
        ),
        OddArchive("encrypted directory", [file("d/").with { $0.flags = 1 }], .disputed(.encrypted)),
        OddArchive(
            "directory with the mode of a link",
            [file("d/").with { $0.attributes = 0o120_777 << 16 }],
            .refused(.symbolicLink, because: "a reader that believes the mode makes a link")
        ),
    ]

    /// Entries by their attributes, methods and data.
    static let kinds: [OddArchive] = [
        OddArchive(
            "file twice, with the same bytes",
            [script, script],
            .refused(
                .nameCollision,
                because: "readers differ in which of two files they take, and here only one was checked"
            )
        ),
        OddArchive(
            "symbolic link",
            [file("a", "/etc/passwd").with { $0.attributes = 0o120_777 << 16 }],
            .disputed(.symbolicLink)
        ),
        OddArchive(
            "symbolic link from MS-DOS",
            [file("a", "/etc/passwd").with { ($0.host, $0.attributes) = (0, 0o120_777 << 16) }],
            .refused(.symbolicLink, because: "a reader that believes the mode makes a link")
        ),
        OddArchive(
            "reparse point",
            [dos("a").with { ($0.host, $0.attributes) = (10, 0x400) }],
            .refused(.symbolicLink, because: "on Windows, it may be a link")
        ),
        OddArchive(
            "link in PKWARE's field",
            [page.with { $0.extra = RawEntry.field(0x000D, [UInt8](repeating: 0, count: 12) + Array("/etc".utf8)) }],
            .refused(.symbolicLink, because: "a reader of the field makes a link")
        ),
        OddArchive(
            "device from MS-DOS",
            [script.with { ($0.host, $0.attributes) = (0, 0o020_644 << 16) }],
            .refused(.specialFile, because: "a reader that believes the mode makes a device")
        ),
        OddArchive("mode without a type", [script.with { $0.attributes = 0o644 << 16 }]),
        OddArchive("file without attributes", [script.with { $0.attributes = 0 }]),
        OddArchive("file with the bit of another user", [script.with { $0.attributes = 0o104_755 << 16 }]),
        OddArchive("hidden file of the system", [dos("a").with { $0.attributes = 7 }]),
        OddArchive("label of a volume", [dos("LABEL", "").with { $0.attributes = 8 }, page], .disputed(.specialFile)),
        OddArchive(
            "label of a volume from Windows NT",
            [dos("LABEL").with { ($0.host, $0.attributes) = (11, 8) }],
            .disputed(.specialFile)
        ),
        OddArchive(
            "hosts that nobody has",
            [1, 2, 4, 13, 18, 255].map { host in file("\(host)").with { $0.host = host } }
        ),
        OddArchive("empty file, deflated", [RawEntry(Array("none.txt".utf8), [], deflated: true), page]),
        OddArchive(
            "empty file, deflated to nothing",
            [file("none.txt", "").with { $0.method = 8 }],
            .disputed(.damagedData)
        ),
        OddArchive(
            "a byte behind the deflated data",
            [
                page.with {
                    $0.data.append(0); $0.compressedSize += 1
                }
            ],
            .disputed(.damagedData)
        ),
        OddArchive(
            "deflated data that is cut",
            [
                page.with {
                    $0.data.removeLast(); $0.compressedSize -= 1
                }
            ],
            .disputed(.damagedData)
        ),
        OddArchive("shrunk", [script.with { $0.method = 1 }], .disputed(.unsupportedMethod)),
        OddArchive("deflate64", [script.with { $0.method = 9 }], .disputed(.unsupportedMethod)),
        OddArchive("Zstandard", [script.with { $0.method = 93 }], .disputed(.unsupportedMethod)),
        OddArchive("AES", [script.with { $0.method = 99 }], .disputed(.unsupportedMethod)),
    ]
}
