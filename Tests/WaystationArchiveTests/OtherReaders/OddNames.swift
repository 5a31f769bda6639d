import Foundation

@testable import WaystationArchive

/// Names, and archives that Debian's tools write.
extension OddArchive {
    static let everyFile = ["bücher.html", "empty/", "index.html", "js/", "js/app.js", "none.txt", "日本.html"]
    static let unixNames = OddArchive.Verdict.decided(
        everyFile,
        because: "unzip and bsdtar read UTF-8, as the writer meant it; Python reads code page 437"
    )

    static let written: [OddArchive] = [
        OddArchive(command: "cd in && zip -qr ../a.zip .", unixNames),
        OddArchive(command: "cd in && zip -qr -fd ../a.zip .", unixNames),
        OddArchive(command: "cd in && zip -qr - . | cat >../a.zip", unixNames),
        OddArchive(command: "cd in && zip -qrX ../a.zip .", unixNames),
        OddArchive(command: "cd in && zip -0qr ../a.zip .", unixNames),
        OddArchive(command: "cd in && LC_ALL=C zip -qr ../a.zip .", unixNames),
        OddArchive(command: "cd in && zip -qr -UN=UTF8 ../a.zip .", unixNames),
        OddArchive(command: "cd in && (echo comment; echo .) | zip -qrz ../a.zip . >/dev/null", unixNames),
        OddArchive(
            command: "cd in && zip -qr ../a.zip . && cd .. && (echo '#!/bin/sh'; cat a.zip) >b && mv b a.zip",
            unixNames
        ),
        OddArchive(
            command:
                "cd in && zip -qr ../a.zip . && cd .. && (echo '#!/bin/sh'; cat a.zip) >b.zip && zip -qA b.zip && mv b.zip a.zip",
            unixNames
        ),
        OddArchive(command: "cd in && zip -qr ../a.zip . && zip -q ../a.zip js/app.js", unixNames),
        OddArchive(command: "cd in && LC_ALL=C bsdtar -acf ../a.zip .", unixNames),
        OddArchive(command: "cd in && bsdtar -acf ../a.zip ."),
        OddArchive(command: "cd in && bsdtar -acf ../a.zip ./*"),
        OddArchive(command: "cd in && bsdtar --format=zip -cf - . | cat >../a.zip"),
        OddArchive(command: "cd in && bsdtar --format=zip --options=zip:zip64 -cf - . | cat >../a.zip"),
        OddArchive(command: "cd in && bsdtar --format=zip --options=zip:compression=store -cf ../a.zip ."),
        OddArchive(
            command: "cd in && bsdtar --format=zip --options=hdrcharset=CP437 -cf ../a.zip bücher.html",
            .decided(["bücher.html"], because: "the bytes are not valid UTF-8; Python decodes them, the others do not")
        ),
        OddArchive(command: "bsdtar -acf a.zip in/js/../js/app.js", .disputed(.dotSegment)),
        OddArchive(command: "cd in && python3 -m zipfile -c ../a.zip ."),
        OddArchive(command: #"python3 -c "import shutil; shutil.make_archive('a', 'zip', 'in')""#),
        OddArchive(
            command: #"""
                printf 'ahead\n' >a.zip; python3 -c "
                import zipfile
                for name in 'in/index.html', 'in/js/app.js':
                    with zipfile.ZipFile('a.zip', 'a') as archive: archive.write(name)"
                """#
        ),
        OddArchive(
            command: #"""
                python3 -c "
                import sys, zipfile
                with zipfile.ZipFile(sys.stdout.buffer, 'w', zipfile.ZIP_DEFLATED) as archive:
                    archive.write('in/js'); archive.write('in/js/app.js'); archive.comment = b'comment'" | cat >a.zip
                """#
        ),
        OddArchive(
            command: "cd in && zip -qr -P secret ../a.zip js",
            .disputed(.encrypted)
        ),
        OddArchive(
            command: "cd in && python3 -c \"import zipfile; zipfile.ZipFile('../a.zip', 'w', 12).write('index.html')\"",
            .refused(.unsupportedMethod, because: "stored and deflated are the methods that every reader knows")
        ),
        OddArchive(
            command: "cd in && python3 -c \"import zipfile; zipfile.ZipFile('../a.zip', 'w', 14).write('index.html')\"",
            .disputed(.unsupportedMethod)
        ),
        OddArchive(
            command: "cd in && ln -s /etc/passwd js/link && zip -qry ../a.zip js",
            .disputed(.symbolicLink)
        ),
    ]

    private static let utf8Names = Verdict.decided(
        ["bücher.html"],
        because: "unzip and bsdtar read UTF-8, as the writer meant it; Python reads code page 437"
    )

    private static func flagged(_ name: [UInt8]) -> RawEntry { RawEntry(name, Array("contents".utf8)) }

    /// Names with odd segments, characters and encodings.
    static let names: [OddArchive] = [
        OddArchive("this directory ahead", ["./", "./a", "./d/", "./d/b"].map { file($0) }),
        OddArchive("this directory ahead, twice", [file("././a")]),
        OddArchive("this directory within", [file("a/./b")]),
        OddArchive("this directory alone, twice", [file("./"), file("./"), file("./a")]),
        OddArchive("two slashes", [file("a//b"), file("c//")]),
        OddArchive("parent behind this directory", [file("./../a")], .disputed(.dotSegment)),
        OddArchive("parent within", [file("a/../b")], .disputed(.dotSegment)),
        OddArchive("this directory as a file", [file("a/.")], .disputed(.dotSegment)),
        OddArchive(
            "absolute",
            [file("/a")],
            .refused(.absolutePath, because: "a reader that keeps the slash writes outside of its directory")
        ),
        OddArchive("drive", [file("C:/a")], .disputed(.driveLetter)),
        OddArchive(
            "code page 437 from MS-DOS",
            [dos("?").with { $0.name = Array("b".utf8) + [0x81] + Array("cher.html".utf8) }],
            .decided(["bücher.html"], because: "APPNOTE D.1, and Python; the others write bytes that are not UTF-8")
        ),
        OddArchive(
            "UTF-8 without the flag from MS-DOS",
            [dos("bücher.html")],
            .decided(["b├╝cher.html"], because: "APPNOTE D.1, and Python; nothing says that it is UTF-8")
        ),
        OddArchive(
            "UTF-8 with the flag from Windows",
            [dos("bücher.html").with { $0.flags = 1 << 11 }],
            .decided(["bücher.html"], because: "the flag says so; Debian's unzip decodes the name of MS-DOS once more")
        ),
        OddArchive("control character", [file("a\u{1}b")], .disputed(.controlCharacter)),
        OddArchive(
            "resource forks of macOS",
            [
                file("a.html"), file("__MACOSX/"), file("__MACOSX/._a.html", "\0\u{5}\u{16}\u{7}").describedBehind(),
            ]
        ),
        OddArchive("UTF-8 without the flag from macOS", [file("bücher.html").with { $0.host = 19 }], utf8Names),
        OddArchive("UTF-8 without the flag from Windows NT", [dos("bücher.html").with { $0.host = 10 }], utf8Names),
        OddArchive(
            "Latin-1 from Unix",
            [file("?").with { $0.name = Array("b".utf8) + [0xFC] + Array("cher.html".utf8) }],
            .decided(["bⁿcher.html"], because: "APPNOTE D.1, and Python; the others write bytes that are not UTF-8")
        ),
        OddArchive("UTF-8 flag on a name that is not UTF-8", [flagged([0x61, 0xFF])], .disputed(.invalidUTF8)),
        OddArchive("this directory, two slashes", [file(".//"), file("./a//./b")]),
        OddArchive("this directory without a slash", [file(".", "")], .disputed(.dotSegment)),
        OddArchive(
            "this directory without a slash, a directory by its mode",
            [file("a/.", "").with { $0.attributes = 0o040_755 << 16 }, file("a/b")],
            .disputed(.dotSegment)
        ),
        OddArchive("parent ahead", [file("../a")], .disputed(.dotSegment)),
        OddArchive("a slash alone", [file("/")], .disputed(.absolutePath)),
        OddArchive(
            "two slashes ahead",
            [file("//server/share")],
            .refused(.absolutePath, because: "on Windows, it is a path in the network")
        ),
        OddArchive("no name", [RawEntry([], [])], .disputed(.emptyName)),
        OddArchive(
            "NUL",
            [file("a.txt\0.png")],
            .refused(
                .controlCharacter,
                because: "the others cut the name off, and a check of its end has seen another one"
            )
        ),
        OddArchive("newline", [file("a\nb")], .disputed(.controlCharacter)),
        OddArchive(
            "C1 control character",
            [RawEntry("a\u{85}b")],
            .refused(.controlCharacter, because: "some terminals take it for a command")
        ),
        OddArchive("words of Windows", ["con", "ab:c", "a ", "a.", "what?"].map { file($0) }),
        OddArchive("dots that are no segments", ["...", ".a", "..a", "a..", "b/..c"].map { file($0) }),
        OddArchive("a name of 255 bytes", [file(String(repeating: "x", count: 255))]),
        OddArchive(
            "twice, once below this directory",
            [file("a"), file("./a")],
            .refused(.nameCollision, because: "readers differ in which of two files they take")
        ),
        OddArchive(
            "twice, once with two slashes",
            [file("a/b"), file("a//b")],
            .refused(.nameCollision, because: "readers differ in which of two files they take")
        ),
        OddArchive(
            "twice, with other bytes",
            [script, file("js/app.js", "other")],
            .refused(.nameCollision, because: "readers differ in which of two files they take")
        ),
        OddArchive(
            "two cases",
            [file("A"), file("a")],
            .refused(.nameCollision, because: "they are one file on other file systems")
        ),
        OddArchive("file and directory", [file("a"), file("a/")], .disputed(.fileIsDirectory)),
        OddArchive("file and directory of another", [file("a"), file("a/b")], .disputed(.fileIsDirectory)),
    ]

    private static func msdos(_ paths: [String]) -> Verdict {
        .decided(paths, because: "unzip and bsdtar read separators; Python does so on Windows")
    }

    /// Names with backslashes.
    static let backslashes: [OddArchive] = [
        OddArchive(
            "backslashes from MS-DOS",
            [dos("js\\app.js"), dos("css\\", ""), dos("index.html"), dos("img/a.png")],
            .decided(
                ["css/", "img/", "img/a.png", "index.html", "js/", "js/app.js"],
                because:
                    "unzip and bsdtar read separators, as .NET's older writer meant them; Python does so on Windows"
            )
        ),
        OddArchive("backslash from Unix", [file("js\\app.js")], .disputed(.backslash)),
        OddArchive(
            "both separators in a name from MS-DOS",
            [dos("js/a\\b.js")],
            .refused(.backslash, because: "on Windows, the same readers make a folder of it")
        ),
        OddArchive("backslashes from MS-DOS, twice in a row", [dos("a\\\\b")], msdos(["a/", "a/b"])),
        OddArchive("backslash behind this directory from MS-DOS", [dos(".\\a")], msdos(["a"])),
        OddArchive(
            "backslash from MS-DOS, UTF-8 with the flag",
            [dos("ü\\b").with { $0.flags = 1 << 11 }],
            msdos(["ü/", "ü/b"])
        ),
        OddArchive(
            "backslash from MS-DOS, with a mode of Unix",
            [file("a\\b").with { $0.host = 0 }],
            msdos(["a/", "a/b"])
        ),
        OddArchive("backslash from Windows NT", [dos("js\\app.js").with { $0.host = 10 }], .disputed(.backslash)),
        OddArchive("backslash from VFAT", [dos("js\\app.js").with { $0.host = 14 }], .disputed(.backslash)),
        OddArchive("parent by a backslash from MS-DOS", [dos("..\\a")], .disputed(.dotSegment)),
        OddArchive("absolute by a backslash from MS-DOS", [dos("\\a")], .disputed(.absolutePath)),
        OddArchive("backslash and slash in one path", [dos("a\\b"), dos("a/b")], .disputed(.nameCollision)),
        OddArchive("backslash beside a name with both", [dos("a\\b"), dos("c/d\\e")], .disputed(.backslash)),
        OddArchive(
            "backslash in the local header",
            [script.with { $0.localName = Array("js\\app.js".utf8) }],
            .disputed(.headerMismatch)
        ),
    ]

    private static let pathNames = Verdict.decided(
        ["日.txt"],
        because: "APPNOTE 4.6.9, and unzip; this Python ignores the field, and bsdtar the one of the directory"
    )

    /// An entry with a Unicode Path field.
    private static func pathed(_ path: String = "日.txt") -> RawEntry {
        file("x.txt").with { $0.extra = RawEntry.unicodePath(Array(path.utf8), for: $0.name) }
    }

    /// Info-ZIP's Unicode Path fields.
    static let unicodePaths: [OddArchive] = [
        OddArchive(
            "Unicode Path",
            [
                file("?").with {
                    $0.name = [0x62, 0x81]
                    $0.extra = RawEntry.unicodePath(Array("bü".utf8), for: $0.name)
                }
            ]
        ),
        OddArchive("outdated Unicode Path", [file("a").with { $0.extra = RawEntry.unicodePath([0x62], for: [0x63]) }]),
        OddArchive(
            "Unicode Path that repeats a flagged name",
            [
                RawEntry("ü").with { $0.extra = RawEntry.unicodePath($0.name, for: $0.name) }
            ]
        ),
        OddArchive("Unicode Path of another name", [pathed()], pathNames),
        OddArchive(
            "Unicode Path of another name from MS-DOS",
            [pathed().with { ($0.host, $0.attributes) = (0, 0x20) }],
            pathNames
        ),
        OddArchive(
            "Unicode Path with backslashes from MS-DOS",
            [
                dos("a\\b").with { $0.extra = RawEntry.unicodePath(Array("ü\\b".utf8), for: $0.name) }
            ],
            .decided(["ü/", "ü/b"], because: "unzip and bsdtar read it so; this Python ignores the field")
        ),
        OddArchive("Unicode Path in the directory alone", [pathed().with { $0.localExtra = [] }], pathNames),
        OddArchive(
            "Unicode Path in the local header alone",
            [pathed().with { ($0.localExtra, $0.extra) = ($0.extra, []) }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "another Unicode Path in the local header",
            [pathed().with { $0.localExtra = RawEntry.unicodePath(Array("月.txt".utf8), for: $0.name) }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "Unicode Path of a later version",
            [pathed().with { $0.extra[4] = 2 }],
            .decided(["x.txt"], because: "APPNOTE 4.6.9 knows version 1 alone; bsdtar does not look at the version")
        ),
        OddArchive("empty Unicode Path", [pathed("")], .disputed(.emptyName)),
        OddArchive(
            "Unicode Path that is not UTF-8",
            [pathed().with { $0.extra = RawEntry.unicodePath([0xFF], for: $0.name) }],
            .disputed(.invalidUTF8)
        ),
        OddArchive("Unicode Path without a checksum", [pathed().with { $0.extra = RawEntry.field(0x7075, [1]) }]),
        OddArchive("Unicode Path that repeats the name, twice", [pathed("x.txt").with { $0.extra += $0.extra }]),
        OddArchive(
            "Unicode Path that makes a directory of a file",
            [file("x", "").with { $0.extra = RawEntry.unicodePath(Array("x/".utf8), for: $0.name) }],
            .disputed(.kindMismatch)
        ),
        OddArchive(
            "Unicode Path of another name than the flagged one",
            [RawEntry("ü").with { $0.extra = RawEntry.unicodePath(Array("y".utf8), for: $0.name) }],
            .disputed(.headerMismatch)
        ),
        OddArchive(
            "Unicode Path that repeats UTF-8 without the flag",
            [file("ü").with { $0.extra = RawEntry.unicodePath($0.name, for: $0.name) }],
            .decided(["ü"], because: "unzip and bsdtar read UTF-8; Python reads code page 437")
        ),
    ]
}
