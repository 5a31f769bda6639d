import Foundation
import Testing
import WaystationStorage

@testable import WaystationArchive

@Suite("Names that are refused")
struct NameRefusalTests {
    private static let unsafe: [Refusal] = [
        Refusal("empty", .emptyName, RawZip([RawEntry([], [])])),
        Refusal("absolute", .absolutePath, names: "/etc/passwd"),
        Refusal("two slashes ahead", .absolutePath, names: "//server/share"),
        Refusal("a slash alone", .absolutePath, names: "/"),
        Refusal("parent ahead", .dotSegment, names: "../up.txt"),
        Refusal("parent within", .dotSegment, names: "a/../../up.txt"),
        Refusal("parent at the end", .dotSegment, names: "a/.."),
        Refusal("parent as directory", .dotSegment, names: "a/../"),
        Refusal("parent alone", .dotSegment, names: ".."),
        Refusal("parent behind this directory", .dotSegment, names: "./../up.txt"),
        Refusal("parent behind two slashes", .dotSegment, names: "a//../../up.txt"),
        Refusal("this directory as a file", .dotSegment, names: "."),
        Refusal("this directory at the end", .dotSegment, names: "a/."),
        Refusal("this directory hidden by a zero width joiner", .dotSegment, names: ".\u{200D}/a"),
        Refusal("absolute behind a slash", .absolutePath, names: "/./a"),
        Refusal("drive", .driveLetter, names: "C:/windows/x"),
        Refusal("drive without slash", .driveLetter, names: "c:x"),
        Refusal("drive alone", .driveLetter, names: "Z:"),
        Refusal("backslash", .backslash, names: "a\\b"),
        Refusal("parent by backslash", .backslash, names: "..\\up.txt"),
        Refusal("share", .backslash, names: "\\\\server\\share"),
        Refusal("both separators on MS-DOS", .backslash, dos("a/b\\c")),
        Refusal("parent by both separators on MS-DOS", .backslash, dos("a/..\\..\\up.txt")),
        Refusal("parent by backslash on MS-DOS", .dotSegment, dos("..\\up.txt")),
        Refusal("parent within by backslash on MS-DOS", .dotSegment, dos("a\\..\\..\\up.txt")),
        Refusal("parent behind this directory on MS-DOS", .dotSegment, dos(".\\..\\up.txt")),
        Refusal("absolute by backslash on MS-DOS", .absolutePath, dos("\\windows\\x")),
        Refusal("share on MS-DOS", .absolutePath, dos("\\\\server\\share")),
        Refusal("drive on MS-DOS", .driveLetter, dos("C:\\windows\\x")),
        Refusal("backslash on Windows NT", .backslash, dos("a\\b").with { $0.host = 10 }),
        Refusal("NUL", .controlCharacter, names: "a.txt\0.png"),
        Refusal("newline", .controlCharacter, names: "a\nb"),
        Refusal("escape", .controlCharacter, names: "a\u{1B}[2J"),
        Refusal("delete", .controlCharacter, names: "a\u{7F}"),
        Refusal("C1 control", .controlCharacter, names: "a\u{85}b"),
        Refusal("slash joined with a mark", .absolutePath, names: "/\u{301}a"),
        Refusal("parent behind a joined slash", .dotSegment, names: "a/\u{301}b/../c"),
        Refusal("parent behind a zero width joiner", .dotSegment, names: "a/..\u{200D}/b"),
        Refusal("this directory ahead of a soft hyphen", .dotSegment, names: "\u{AD}./a"),
        Refusal("bad UTF-8", .invalidUTF8, RawZip([RawEntry([0x61, 0xFF], [])])),
        Refusal("overlong slash", .invalidUTF8, RawZip([RawEntry([0x2E, 0x2E, 0xC0, 0xAF, 0x61], [])])),
        Refusal("surrogate", .invalidUTF8, RawZip([RawEntry([0xED, 0xA0, 0x80], [])])),
        Refusal("long", .nameTooLong, RawEntry(String(repeating: "a/", count: 10) + "b")) { $0.maximumNameLength = 20 },
        Refusal("long segment", .nameTooLong, names: String(repeating: "x", count: 256)),
        Refusal("deep", .tooDeep, names: String(repeating: "d/", count: 32) + "x"),
        Refusal(
            "parent in the Unicode Path",
            .dotSegment,
            RawEntry("up.txt").with {
                $0.flags = 0
                $0.extra = RawEntry.unicodePath(Array("../up.txt".utf8), for: $0.name)
            }
        ),
        Refusal(
            "Unicode Path that makes a file of a directory",
            .kindMismatch,
            RawEntry("a/").with {
                $0.flags = 0
                $0.extra = RawEntry.unicodePath(Array("a".utf8), for: $0.name)
            }
        ),
        Refusal(
            "Unicode Path beside the UTF-8 flag",
            .headerMismatch,
            RawEntry("a").with { $0.extra = RawEntry.unicodePath(Array("b".utf8), for: $0.name) }
        ),
        Refusal(
            "another Unicode Path in the local header",
            .headerMismatch,
            RawEntry("a").with {
                $0.flags = 0
                $0.extra = RawEntry.unicodePath(Array("b".utf8), for: $0.name)
                $0.localExtra = RawEntry.unicodePath(Array("c".utf8), for: $0.name)
            }
        ),
    ]

    /// An entry that was made on MS-DOS.
    private static func dos(_ name: String) -> RawEntry {
        RawEntry(name).with { ($0.host, $0.attributes) = (0, 0x20) }
    }

    private static let colliding: [Refusal] = [
        Refusal("twice", .nameCollision, names: "a.txt", "a.txt"),
        Refusal("twice, once below this directory", .nameCollision, names: "a.txt", "./a.txt"),
        Refusal("twice, once with two slashes", .nameCollision, names: "a/b", "a//b"),
        Refusal(
            "twice, once with a backslash",
            .nameCollision,
            RawZip([RawEntry("a/b"), RawEntry("a\\b").with { ($0.host, $0.attributes) = (0, 0x20) }])
        ),
        Refusal(
            "directory twice, with data",
            .nameCollision,
            RawZip([
                RawEntry("a/"), RawEntry("a/").with { ($0.data, $0.compressedSize, $0.method) = ([3, 1], 2, 8) },
            ])
        ),
        Refusal(
            "directory twice, with a checksum of no bytes",
            .nameCollision,
            RawZip([
                RawEntry("a/"),
                RawEntry("a/").with { ($0.data, $0.compressedSize, $0.method, $0.crc32) = ([3, 0], 2, 8, 1) },
            ])
        ),
        Refusal("directory twice in two cases", .nameCollision, names: "a/", "A/"),
        Refusal("file and directory below this directory", .fileIsDirectory, names: "a", "./a/"),
        Refusal("case", .nameCollision, names: "Readme.md", "README.md"),
        Refusal("Unicode form", .nameCollision, names: "\u{E9}.txt", "e\u{301}.txt"),
        Refusal("Unicode form and case", .nameCollision, names: "\u{C9}.txt", "e\u{301}.txt"),
        Refusal("sharp s", .nameCollision, names: "stra\u{DF}e", "STRASSE"),
        Refusal("capital sharp s", .nameCollision, names: "\u{1E9E}", "\u{DF}"),
        Refusal("capital sharp s and SS", .nameCollision, names: "stra\u{1E9E}e", "strasse"),
        Refusal("zero width joiner", .nameCollision, names: "a", "a\u{200D}"),
        Refusal("variation selector", .nameCollision, names: "\u{2764}", "\u{2764}\u{FE0F}"),
        Refusal("joiner between a letter and its accent", .nameCollision, names: "e\u{34F}\u{301}", "\u{C9}"),
        Refusal("soft hyphen in an implied directory", .nameCollision, names: "dir/a", "d\u{AD}ir/b"),
        Refusal("final sigma", .nameCollision, names: "\u{3BF}\u{3C2}", "\u{3BF}\u{3C3}"),
        Refusal("ligature", .nameCollision, names: "\u{FB01}n", "FIN"),
        Refusal("Kelvin sign", .nameCollision, names: "\u{212A}", "k"),
        Refusal("Cyrillic", .nameCollision, names: "\u{416}", "\u{436}"),
        Refusal("case of an implied directory", .nameCollision, names: "Dir/a", "dir/b"),
        Refusal("case of a directory", .nameCollision, names: "dir/", "DIR/a"),
        Refusal("file and directory", .fileIsDirectory, names: "a", "a/"),
        Refusal("directory and file", .fileIsDirectory, names: "a/", "a"),
        Refusal("file and implied directory", .fileIsDirectory, names: "a", "a/b"),
        Refusal("implied directory and file", .fileIsDirectory, names: "a/b", "a"),
        Refusal("file and implied directory in another case", .fileIsDirectory, names: "x/A", "x/a/b"),
    ]

    @Test("A name that could leave the directory, or mislead, is refused", arguments: unsafe)
    func unsafeName(_ refusal: Refusal) { expect(refusal) }

    @Test("Names that some file system treats as the same path are refused", arguments: colliding)
    func collidingNames(_ refusal: Refusal) { expect(refusal) }

    @Test("A character collides with its forms in other cases, whichever comes first")
    func foldingIsComplete() {
        for value in UInt32(0x80)...0x2FFFF {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let properties = scalar.properties
            guard properties.changesWhenCaseMapped || properties.changesWhenNFKCCaseFolded else { continue }
            let forms = [
                properties.lowercaseMapping, properties.uppercaseMapping, properties.titlecaseMapping,
                String(scalar).decomposedStringWithCanonicalMapping,
            ]
            let folded = NameFolding.folded(Substring(String(scalar)))
            for form in forms where NameFolding.folded(Substring(form)) != folded {
                Issue.record("U+\(String(value, radix: 16)) and \(form)")
            }
        }
    }

    @Test("A message shows hostile names without their control characters")
    func printableMessage() {
        let error = #expect(throws: ZipError.self) {
            try ZipArchive(DataSource(RawZip([RawEntry("a\u{1B}[31m\u{202E}b")]).data))
        }
        #expect(error?.description.contains("entry 'a\\u{1B}[31m\\u{202E}b' has a control character") == true)
        let long = #expect(throws: ZipError.self) {
            try ZipArchive(DataSource(RawZip([RawEntry(String(repeating: "a", count: 60_000) + "\n")]).data))
        }
        #expect(long.map { $0.message.count < 500 && !$0.message.contains("\n") } == true)
    }
}

/// Fails unless the archive is refused with exactly this error code.
func expect(_ refusal: Refusal, sourceLocation: SourceLocation = #_sourceLocation) {
    let error = #expect(throws: ZipError.self, sourceLocation: sourceLocation) {
        try ZipArchive(DataSource(refusal.data), limits: refusal.limits)
    }
    #expect(error?.code == refusal.code, "\(error.map(String.init(describing:)) ?? "")", sourceLocation: sourceLocation)
}
