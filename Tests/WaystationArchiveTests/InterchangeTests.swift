import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationArchive

/// A file or directory that every Debian with Python has; it gets a folder of its own.
struct Material: Sendable, CustomTestStringConvertible {
    let name: String
    private let sources: [String]

    static let all: [Material] =
        ["GPL-2", "GPL-3", "LGPL-2.1", "Apache-2.0", "MPL-2.0", "Artistic", "BSD", "GFDL-1.3"].map {
            Material(name: $0, sources: ["/usr/share/common-licenses/\($0)"])
        }
        + ["json", "asyncio", "email", "html", "http", "logging", "sqlite3", "urllib", "wsgiref", "xml"].map {
            Material(name: $0, sources: [pythonLibrary + "/\($0)"])
        }
        + [
            Material(name: "programs", sources: ["/usr/bin/zip", "/usr/bin/unzip", "/usr/bin/bsdtar"]),
            Material(name: "documents", sources: ["zip", "unzip", "libarchive-tools"].map { "/usr/share/doc/\($0)" }),
            Material(name: "licenses", sources: ["/usr/share/common-licenses"]),
        ]

    /// The folder of Python's own modules, in any version.
    private static let pythonLibrary: String = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
        return "/usr/lib/" + (names.filter { $0.hasPrefix("python3.") }.max() ?? "python3")
    }()

    var testDescription: String { name }

    /// Copies the material without its links into a folder in which nothing else changes it.
    func copy(to folder: String) throws {
        for source in sources { try copy(source, to: folder + "/" + (source as NSString).lastPathComponent) }
    }

    private func copy(_ source: String, to target: String) throws {
        var isDirectory: ObjCBool = false
        try #require(FileManager.default.fileExists(atPath: source, isDirectory: &isDirectory), "\(source) is missing")
        guard isDirectory.boolValue else {
            let parent = (target as NSString).deletingLastPathComponent
            try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
            return try Data(contentsOf: URL(filePath: source)).write(to: URL(filePath: target))
        }
        try FileManager.default.createDirectory(atPath: target, withIntermediateDirectories: true)
        for name in try FileManager.default.contentsOfDirectory(atPath: source) where name != "__pycache__" {
            // A link whose target does not exist is skipped.
            guard FileManager.default.fileExists(atPath: source + "/" + name) else { continue }
            try copy(source + "/" + name, to: target + "/" + name)
        }
    }
}

@Suite("Interchange with Debian's tools")
struct InterchangeTests {
    /// A way in which a tool writes an archive of the folder `in` as `out.zip`.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let tool: Tool
        let arguments: [String]
        var streams = false
    }

    private static let python = """
        import os, sys, zipfile
        out, method, wide = sys.argv[1], int(sys.argv[2]), sys.argv[3] == "wide"
        with zipfile.ZipFile(sys.stdout.buffer if out == "-" else out, "w", method) as archive:
            for root, directories, files in os.walk("in"):
                for name in sorted(files):
                    path = os.path.join(root, name)
                    info = zipfile.ZipInfo.from_file(path)
                    info.compress_type = method
                    with open(path, "rb") as source, archive.open(info, "w", force_zip64=wide) as entry:
                        entry.write(source.read())
        """

    private static let ways: [Way] = [
        Way(testDescription: "zip", tool: .zip, arguments: ["-qr", "out.zip", "in"]),
        Way(testDescription: "zip, stored", tool: .zip, arguments: ["-0qr", "out.zip", "in"]),
        Way(testDescription: "zip, zip64", tool: .zip, arguments: ["-fz", "-qr", "out.zip", "in"]),
        Way(testDescription: "zip, to a pipe", tool: .zip, arguments: ["-qr", "-", "in"], streams: true),
        Way(testDescription: "bsdtar", tool: .bsdtar, arguments: ["-acf", "out.zip", "in"]),
        Way(
            testDescription: "bsdtar, stored",
            tool: .bsdtar,
            arguments: ["--format=zip", "--options=zip:compression=store", "-cf", "out.zip", "in"]
        ),
        Way(
            testDescription: "bsdtar, to a pipe",
            tool: .bsdtar,
            arguments: ["--format=zip", "--options=zip:zip64", "-b1", "-cf", "-", "in"],
            streams: true
        ),
        Way(testDescription: "zipfile", tool: .python, arguments: ["-c", python, "out.zip", "8", "narrow"]),
        Way(testDescription: "zipfile, stored", tool: .python, arguments: ["-c", python, "out.zip", "0", "narrow"]),
        Way(testDescription: "zipfile, zip64", tool: .python, arguments: ["-c", python, "out.zip", "8", "wide"]),
        Way(
            testDescription: "zipfile, to a pipe",
            tool: .python,
            arguments: ["-c", python, "-", "8", "narrow"],
            streams: true
        ),
        Way(
            testDescription: "zipfile, stored, zip64, to a pipe",
            tool: .python,
            arguments: ["-c", python, "-", "0", "wide"],
            streams: true
        ),
    ]

    @Test("The material contains enough files to exchange")
    func enough() { #expect(Material.all.count >= 20) }

    @Test("Archives that Debian's tools write are read, byte for byte", arguments: Material.all)
    func reading(_ material: Material) async throws {
        let scratch = try Scratch()
        try material.copy(to: scratch.path("in"))
        let expected = try scratch.tree("in")
        for (number, way) in Self.ways.enumerated() {
            try way.tool.run(way.arguments, in: scratch.url.path, stream: way.streams ? "out.zip" : nil)
            let file = scratch.url.appending(path: "out.zip")
            let archive = try ZipArchive(FileSource(file))
            try await archive.extract(into: scratch.url.appending(path: "out\(number)"))
            #expect(try scratch.tree("out\(number)/in") == expected, "\(way.testDescription)")
            try FileManager.default.removeItem(at: file)
            try FileManager.default.removeItem(atPath: scratch.path("out\(number)"))
        }
    }

    @Test(
        "Archives that zip writes from a pipe are read",
        arguments: [
            "cat contents | zip -q out.zip -", "cat contents | zip -q0 out.zip -",
            "cat contents | zip -q -fz out.zip -", "cat contents | zip -q - - | cat >out.zip",
            "cat contents | zip -q | cat >out.zip",
            "cat contents | zip -q -fz- - - | cat >out.zip",
        ]
    )
    func readingFromPipe(command: String) throws {
        let scratch = try Scratch()
        let contents = Data.words(5_000)
        try scratch.write(contents, to: "contents")
        try Tool.shell.run(["-c", command], in: scratch.url.path)
        let archive = try ZipArchive(FileSource(scratch.url.appending(path: "out.zip")))
        #expect(try archive.contents() == ["-": contents])
    }

    @Test("The zip64 form that zip writes to a pipe lacks its end record; this reader and Python's refuse it")
    func zip64ToPipe() throws {
        let scratch = try Scratch()
        try scratch.write(Data.words(5_000), to: "contents")
        try Tool.shell.run(["-c", "zip -q -fz - contents | cat >out.zip"], in: scratch.url.path)
        let error = #expect(throws: ZipError.self) {
            try ZipArchive(FileSource(scratch.url.appending(path: "out.zip")))
        }
        #expect(error?.code == .invalidZip64)
        try Tool.shell.run(["-c", "! python3 -m zipfile -t out.zip"], in: scratch.url.path)
    }

    @Test("Archives that are written here are read by Debian's tools, byte for byte", arguments: Material.all)
    func writing(_ material: Material) throws {
        let scratch = try Scratch()
        try material.copy(to: scratch.path("in"))
        let expected = try scratch.tree("in")
        for (number, compression) in [ZipWriter.Compression.stored, .deflated, .deflated(level: 9)].enumerated() {
            let file = "\(number).zip"
            try ZipWriter.write(
                folder: scratch.url.appending(path: "in"),
                to: scratch.url.appending(path: file),
                compression: compression
            )
            try expectRead(file, in: scratch, as: expected)
        }
    }

    @Test("Debian's tools read the zip64 form")
    func writingZip64() throws {
        let scratch = try Scratch()
        let contents = ["a/small": Data("s".utf8), "a/large": Data.words(20_000), "late": Data.random(3_000)]
        let bytes = try ZipWriter.bytes(wideBound: 100) { writer in
            for path in contents.keys.sorted() { try writer.add(path, from: contents[path] ?? Data()) }
        }
        try scratch.write(bytes, to: "wide.zip")
        try expectRead("wide.zip", in: scratch, as: contents.merging(["a/": Data()]) { $1 })
    }

    @Test("Non-ASCII names are the same for this library and for Debian's tools")
    func unicodeNames() throws {
        let scratch = try Scratch()
        let names = ["\u{E9}t\u{E9}.txt", "e\u{302}.txt", "日本語/頁.html", "\u{1F600}.png", "Ω≈ç"]
        for name in names { try scratch.write(Data(name.utf8), to: "in/\(name)") }
        let expected = try scratch.tree("in")
        try ZipWriter.write(folder: scratch.url.appending(path: "in"), to: scratch.url.appending(path: "ours.zip"))
        try expectRead("ours.zip", in: scratch, as: expected)
        for way in Self.ways where way.tool != .zip && !way.streams {
            try way.tool.run(way.arguments, in: scratch.url.path)
            let file = scratch.url.appending(path: "out.zip")
            let found = try ZipArchive(FileSource(file)).contents()
            let inFolder = Dictionary(uniqueKeysWithValues: expected.map { ("in/" + $0, $1) })
            #expect(found == inFolder.merging(["in/": Data()]) { $1 }, "\(way.testDescription)")
            try FileManager.default.removeItem(at: file)
        }
        // Info-ZIP writes UTF-8 and does not set the flag for it.
        try Tool.zip.run(["-qr", "theirs.zip", "in"], in: scratch.url.path)
        let theirs = try ZipArchive(FileSource(scratch.url.appending(path: "theirs.zip")))
        #expect(Set(names.map { "in/" + $0 }).isSubset(of: theirs.entries.map(\.path)))
    }

    @Test("Names in code page 437 are decoded as Python decodes them")
    func codePage437() throws {
        let scratch = try Scratch()
        let names = ["Übung.txt", "½±≥.txt", "╔═╗", "Σφ"]
        let zip = RawZip(
            names.map { name in
                RawEntry("?").with { entry in
                    entry.flags = 0
                    entry.name = (0...255).map { UInt8($0) }.reduce(into: [UInt8: String]()) {
                        $0[$1] = CodePage437.decode(CollectionOfOne($1))
                    }.bytes(spelling: name)
                }
            }
        )
        try scratch.write(zip.data, to: "a.zip")
        let script = "import zipfile; print('\\n'.join(zipfile.ZipFile('a.zip').namelist()))"
        let theirs = try Tool.python.run(["-c", script], in: scratch.url.path).split(separator: "\n").map(String.init)
        let ours = try ZipArchive(FileSource(scratch.url.appending(path: "a.zip"))).entries.map(\.path)
        #expect(ours == names)
        #expect(theirs == names)
    }

    @Test("An entry that Info-ZIP marks as a pipe is refused")
    func infoZipPipe() throws {
        let scratch = try Scratch()
        try Tool.zip.run(["-q", "out.zip", "-"], in: scratch.url.path)
        #expect(throws: ZipError.self) { try ZipArchive(FileSource(scratch.url.appending(path: "out.zip"))) }
    }

    /// Fails unless each of Debian's tools finds the archive sound and extracts exactly these files from it.
    private func expectRead(_ file: String, in scratch: Scratch, as expected: [String: Data]) throws {
        try Tool.unzip.run(["-tq", file], in: scratch.url.path)
        try Tool.zip.run(["-Tq", file], in: scratch.url.path)
        try Tool.unzip.run(["-q", file, "-d", "unzip"], in: scratch.url.path)
        try FileManager.default.createDirectory(atPath: scratch.path("bsdtar"), withIntermediateDirectories: false)
        try Tool.bsdtar.run(["-xf", file, "-C", "bsdtar"], in: scratch.url.path)
        let script =
            "import zipfile; z = zipfile.ZipFile('\(file)'); assert z.testzip() is None; z.extractall('python3')"
        try Tool.python.run(["-c", script], in: scratch.url.path)
        for tool in [Tool.unzip, .bsdtar, .python] {
            #expect(try scratch.tree(tool.rawValue) == expected, "\(file) by \(tool)")
            try FileManager.default.removeItem(atPath: scratch.path(tool.rawValue))
        }
    }
}

extension [UInt8: String] {
    /// The bytes of a text in this character set.
    fileprivate func bytes(spelling text: String) -> [UInt8] {
        text.unicodeScalars.compactMap { scalar in first { $0.value == String(scalar) }?.key }
    }
}
