import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationArchive

/// An archive of a form that a real writer makes, or nearly makes, and what `unzip`, `bsdtar` and Python say about it.
struct OddArchive: Sendable, CustomTestStringConvertible {
    /// What the others say, and what is right here.
    enum Verdict: Sendable {
        /// The three extract the same files, and so does this library.
        case read
        /// The three extract the same files, but the archive is refused here, for a reason.
        case refused(ZipError.Code, because: String)
        /// The three do not agree, and the archive is refused here.
        case disputed(ZipError.Code)
        /// The three do not agree, and these files are read here, for a reason.
        case decided([String], because: String)
    }

    /// How the archive is made.
    enum Making: Sendable {
        case bytes(RawZip)
        /// By a command of the shell that writes `a.zip` from the folder `in`.
        case command(String)
    }

    let testDescription: String
    let making: Making
    let verdict: Verdict

    init(_ what: String, _ zip: RawZip, _ verdict: Verdict = .read) {
        (testDescription, making, self.verdict) = (what, .bytes(zip), verdict)
    }

    /// An archive of these entries.
    init(_ what: String, _ entries: [RawEntry], _ verdict: Verdict = .read) {
        self.init(what, RawZip(entries), verdict)
    }

    init(command: String, _ verdict: Verdict = .read) {
        (testDescription, making, self.verdict) = (command, .command(command), verdict)
    }
}

@Suite("Archives that other readers accept")
struct OtherReadersTests {
    /// A file of a writer that knows nothing of UTF-8.
    private static func file(_ name: String, _ contents: String = "contents", deflated: Bool = false) -> RawEntry {
        RawEntry(name, contents, deflated: deflated).with { $0.flags = 0 }
    }

    /// A file from MS-DOS or Windows.
    private static func dos(_ name: String, _ contents: String = "contents") -> RawEntry {
        file(name, contents).with { ($0.host, $0.attributes) = (0, name.hasSuffix("\\") ? 0x10 : 0x20) }
    }

    private static let page = file("index.html", String(repeating: "<p>page</p>", count: 9), deflated: true)
    private static let script = file("js/app.js", "let a = 1")

    // MARK: - Names

    private static let everyFile = ["bücher.html", "empty/", "index.html", "js/", "js/app.js", "none.txt", "日本.html"]
    private static let unixNames = OddArchive.Verdict.decided(
        everyFile,
        because: "unzip and bsdtar read UTF-8, as the writer meant it; Python reads code page 437"
    )

    private static let written: [OddArchive] = [
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
    ]

    private static let names: [OddArchive] = [
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
        OddArchive("control character", [file("a\u{1}b")], .disputed(.controlCharacter)),
        OddArchive(
            "resource forks of macOS",
            [
                file("a.html"), file("__MACOSX/"), file("__MACOSX/._a.html", "\0\u{5}\u{16}\u{7}").describedBehind(),
            ]
        ),
    ]

    // MARK: - Entries

    private static let directories: [OddArchive] = [
        OddArchive("directory twice", [file("js/"), file("js/"), script]),
        OddArchive("directory twice, behind its file", [script, file("js/"), file("js/")]),
        OddArchive("directory twice, once below this directory", [file("js/"), file("./js/"), script]),
        OddArchive(
            "directory in two cases",
            [file("js/"), file("JS/")],
            .refused(.nameCollision, because: "they are one directory on other file systems")
        ),
        OddArchive(
            "file twice, with the same bytes",
            [script, script],
            .refused(
                .nameCollision,
                because: "readers differ in which of two files they take, and here only one was checked"
            )
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
        OddArchive(
            "symbolic link",
            [file("a", "/etc/passwd").with { $0.attributes = 0o120_777 << 16 }],
            .disputed(.symbolicLink)
        ),
    ]

    private static let headers: [OddArchive] = [
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
        OddArchive(
            "no numbers and no descriptor",
            [
                script.with { ($0.localCRC32, $0.localSize, $0.localCompressedSize) = (0, 0, 0) }
            ],
            .disputed(.headerMismatch)
        ),
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
    ]

    // MARK: - Places

    private static let places: [OddArchive] = [
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
        OddArchive("comment", RawZip([page]).with { $0.comment = Array("comment".utf8) }),
        OddArchive(
            "directory in another order than the entries",
            RawZip([page, script]).with { $0.isReversed = true }
        ),
        OddArchive("no entries", RawZip([])),
    ]

    @Test("Archives that Debian's tools write are read as they read them", arguments: written)
    func readWritten(_ archive: OddArchive) throws { try check(archive) }

    @Test("Odd names are read as other readers agree, or refused with a reason", arguments: names)
    func readNames(_ archive: OddArchive) throws { try check(archive) }

    @Test("Odd directories are read as other readers agree, or refused with a reason", arguments: directories)
    func readDirectories(_ archive: OddArchive) throws { try check(archive) }

    @Test("Odd headers are read as other readers agree, or refused with a reason", arguments: headers)
    func readHeaders(_ archive: OddArchive) throws { try check(archive) }

    @Test("Bytes in odd places are read over as other readers agree, or refused with a reason", arguments: places)
    func readPlaces(_ archive: OddArchive) throws { try check(archive) }

    @Test("More entries than the end record has room for are listed as other readers list them")
    func wrappedCount() throws {
        let scratch = try Scratch()
        let names = (0..<65_540).map { "\($0)" }
        try scratch.write(RawZip(names.map { Self.file($0, "") }).data, to: "a.zip")
        func lines(_ tool: Tool, _ arguments: String...) throws -> [String] {
            try tool.run(arguments, in: scratch.url.path).split(separator: "\n").map(String.init)
        }
        #expect(try lines(.unzip, "-Z1", "a.zip") == names)
        #expect(try lines(.bsdtar, "-tf", "a.zip") == names)
        #expect(
            try lines(.python, "-c", "import zipfile; print('\\n'.join(zipfile.ZipFile('a.zip').namelist()))") == names
        )
        let archive = try ZipArchive(FileSource(scratch.url.appending(path: "a.zip")))
        #expect(archive.entries.map(\.path) == names)
    }

    private func check(_ odd: OddArchive) throws {
        let scratch = try Scratch()
        switch odd.making {
        case .bytes(let zip): try scratch.write(zip.data, to: "a.zip")
        case .command(let command):
            for name in Self.everyFile where !name.hasSuffix("/") {
                try scratch.write(Data((name == "none.txt" ? "" : "contents of \(name)").utf8), to: "in/\(name)")
            }
            try FileManager.default.createDirectory(
                atPath: scratch.path("in/empty"),
                withIntermediateDirectories: false
            )
            try Tool.shell.run(["-c", command], in: scratch.url.path)
        }
        let agreed = try agreement(on: "a.zip", in: scratch)
        let ours = Result { try ZipArchive(FileSource(scratch.url.appending(path: "a.zip"))).contents() }
        switch odd.verdict {
        case .read:
            let agreed = try #require(agreed, "the other readers do not agree")
            #expect(try ours.get() == agreed)
        case .refused(let code, let reason):
            #expect(agreed != nil, "the other readers do not agree")
            #expect(throws: ZipError.self, "\(reason)") { try ours.get() }
            #expect(ours.refusal?.code == code, "\(reason)")
        case .disputed(let code):
            #expect(agreed == nil, "the other readers agree")
            #expect(ours.refusal?.code == code)
        case .decided(let paths, let reason):
            #expect(agreed == nil, "the other readers agree")
            #expect(try ours.get().keys.sorted() == paths, "\(reason)")
        }
    }

    /// The files that `unzip`, `bsdtar` and Python extract; nil when they do not agree, or one of them fails.
    private func agreement(on file: String, in scratch: Scratch) throws -> [String: Data]? {
        for reader in ["unzip", "bsdtar"] {
            try FileManager.default.createDirectory(atPath: scratch.path(reader), withIntermediateDirectories: false)
        }
        let script = "import zipfile; zipfile.ZipFile('\(file)').extractall('python3')"
        let runs: [(Tool, [String], Set<Int32>)] = [
            // The status 1 stands for warnings.
            (.unzip, ["-oq", file, "-d", "unzip"], [0, 1]),
            (.bsdtar, ["-xf", file, "-C", "bsdtar"], [0]),
            (.python, ["-c", script], [0]),
        ]
        let trees = try runs.map { tool, arguments, statuses -> [String: Data]? in
            guard try tool.succeeds(arguments, in: scratch.url.path, with: statuses) else { return nil }
            return try? scratch.tree(tool.rawValue)
        }
        guard let first = trees[0], trees.allSatisfy({ $0 == first }) else { return nil }
        return first
    }
}

extension Result where Failure == any Error {
    fileprivate var refusal: ZipError? { if case .failure(let error) = self { error as? ZipError } else { nil } }
}
