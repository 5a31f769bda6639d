import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import WaystationArchive

@Suite("Writing")
struct WritingTests {
    @Test(
        "An entry that was written is read back unchanged, at every size around the end of a buffer",
        arguments: [0, 1, 65_535, 65_536, 65_537, 131_072, 1 << 20],
        [ZipWriter.Compression.stored, .deflated, .deflated(level: 1), .deflated(level: 9)]
    )
    func roundTrip(size: Int, compression: ZipWriter.Compression) throws {
        let contents = ["zeros": Data(count: size), "noise": .random(size), "text": .words(size)]
        let bytes = try ZipWriter.bytes { writer in
            for (path, data) in contents { try writer.add(path, from: data, compression: compression) }
        }
        #expect(try ZipArchive(DataSource(bytes)).contents() == contents)
    }

    @Test("Files that shrink more than a reader allows are stored, also if there are only many small ones")
    func ratio() throws {
        let large = try ZipWriter.bytes { try $0.add("zeros", from: Data(count: 4 << 20)) }
        #expect(try ZipArchive(DataSource(large)).entries.map(\.method) == [.stored])
        let small = try ZipWriter.bytes { writer in
            for number in 0..<4 { try writer.add("\(number)", from: Data(count: 900_000)) }
        }
        #expect(try ZipArchive(DataSource(small)).entries.count == 4)
    }

    @Test("Data that deflate does not make smaller is stored")
    func incompressible() throws {
        let bytes = try ZipWriter.bytes { writer in
            try writer.add("noise", from: .random(100_000))
            try writer.add("words", from: .words(100_000))
            try writer.add("empty", from: Data())
        }
        #expect(try ZipArchive(DataSource(bytes)).entries.map(\.method) == [.stored, .deflated, .stored])
    }

    @Test("An entry that is too large to keep in memory is written in a second pass, with the same bytes")
    func secondPass() throws {
        for (data, compression) in [
            (Data.words(300_000), ZipWriter.Compression.deflated), (.random(300_000), .deflated),
            (.random(300_000), .stored),
        ] {
            var forms: [Data] = []
            for maximum in [0, 1_000_000] {
                let entry = try CompressedEntry(DataSource(data), compression: compression, maximumKept: maximum)
                var form = Data()
                try entry.write { form.append(contentsOf: $0) }
                #expect(form.count == entry.compressedSize)
                forms.append(form)
            }
            #expect(forms[0] == forms[1])
        }
    }

    @Test(
        "Writing fails if a source changes between the passes",
        arguments: [ZipWriter.Compression.stored, .deflated]
    )
    func changedSource(compression: ZipWriter.Compression) throws {
        let scratch = try Scratch()
        let file = try scratch.write(.words(300_000), to: "a")
        let entry = try CompressedEntry(FileSource(file), compression: compression, maximumKept: 0)
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: 1_000)
        try handle.write(contentsOf: Data("XYZ".utf8))
        let error = #expect(throws: ZipError.self) { try entry.write { _ in } }
        #expect(error?.code == .sourceChanged)
    }

    @Test("Equal input gives equal bytes, whatever the folder's times, modes and order of creation")
    func reproducible() throws {
        let scratch = try Scratch()
        let paths = ["b.txt", "a/z.txt", "a.txt", "a/\u{E9}.txt", "Z", "a-b/c"]
        for (folder, order) in [("one", paths), ("two", paths.reversed())] {
            for path in order { try scratch.write(.words(5_000), to: "\(folder)/\(path)") }
            try FileManager.default.createDirectory(
                atPath: scratch.path("\(folder)/empty"),
                withIntermediateDirectories: false
            )
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1), .posixPermissions: 0o700],
            ofItemAtPath: scratch.path("two/b.txt")
        )
        for folder in ["one", "two"] {
            try ZipWriter.write(
                folder: scratch.url.appending(path: folder),
                to: scratch.url.appending(path: folder + ".zip")
            )
        }
        let one = try Data(contentsOf: scratch.url.appending(path: "one.zip"))
        #expect(try one == Data(contentsOf: scratch.url.appending(path: "two.zip")))
        let archive = try ZipArchive(DataSource(one))
        #expect(
            archive.entries.map(\.path) == ["Z", "a-b/c", "a.txt", "a/z.txt", "a/\u{E9}.txt", "b.txt", "empty"]
        )
        #expect(archive.entries.allSatisfy { $0.modified == .earliest })
        #expect(try archive.contents() == scratch.tree("one"))
    }

    @Test("A small archive consists of exactly the expected bytes")
    func bytes() throws {
        let bytes = try ZipWriter.bytes { try $0.add("a", from: Data("hi".utf8), compression: .stored) }
        let common = "0008 0000 0000 2100 ac2a93d8 02000000 02000000 0100 0000"
        let expected =
            "504b0304 1400 \(common) 61 6869"
            + "504b0102 1403 1400 \(common) 0000 0000 0000 0000a481 00000000 61"
            + "504b0506 0000 0000 0100 0100 2f000000 21000000 0000"
        #expect(
            bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
                == expected.filter { $0 != " " }
        )
    }

    @Test("Zip64 is written only where a number needs it")
    func zip64() throws {
        let contents = ["a/small": Data("s".utf8), "a/large": Data.words(2_000), "late": Data("l".utf8)]
        let bytes = try ZipWriter.bytes(wideBound: 500) { writer in
            for path in contents.keys.sorted() { try writer.add(path, from: contents[path] ?? Data()) }
        }
        var wide: [UInt8] = []
        wide.append(littleEndian: UInt32(0x0606_4B50))
        #expect(bytes.range(of: Data(wide)) != nil)
        #expect(try ZipArchive(DataSource(bytes)).contents().filter { !$0.key.hasSuffix("/") } == contents)
    }

    @Test("An archive of 65,535 or more entries is written as zip64", arguments: [65_534, 65_535, 65_536])
    func manyEntries(count: Int) throws {
        let bytes = try ZipWriter.bytes { writer in
            for number in 0..<count { try writer.add(String(number), from: Data(), compression: .stored) }
        }
        let hasLocator = bytes.dropLast(22).suffix(20).starts(with: [0x50, 0x4B, 6, 7])
        #expect(hasLocator == (count >= 65_535))
        #expect(try ZipArchive(DataSource(bytes)).entries.count == count)
    }

    @Test(
        "Names that a reader would refuse are not written",
        arguments: [
            ("/a", ZipError.Code.absolutePath), ("../a", .dotSegment), ("a\\b", .backslash), ("", .emptyName),
            ("A", .nameCollision), ("a/b", .fileIsDirectory), ("b/", .kindMismatch),
        ]
    )
    func refusedName(path: String, code: ZipError.Code) throws {
        let error = #expect(throws: ZipError.self) {
            try ZipWriter.bytes { writer in
                try writer.add("a", from: Data())
                try writer.add(path, from: Data())
            }
        }
        #expect(error?.code == code)
    }

    @Test("Links and special files in a folder are reported and not followed")
    func linkInFolder() throws {
        let scratch = try Scratch()
        try scratch.write(Data(), to: "links/a")
        try FileManager.default.createSymbolicLink(atPath: scratch.path("links/b"), withDestinationPath: "/etc/passwd")
        try scratch.write(Data(), to: "pipes/a")
        #expect(mkfifo(scratch.path("pipes/b"), 0o600) == 0)
        for (folder, code) in [("links", ZipError.Code.symbolicLink), ("pipes", .specialFile)] {
            let (from, to) = (scratch.url.appending(path: folder), scratch.url.appending(path: folder + ".zip"))
            let error = #expect(throws: ZipError.self) { try ZipWriter.write(folder: from, to: to) }
            #expect(error?.code == code)
            #expect(!FileManager.default.fileExists(atPath: to.path))
        }
    }

    @Test("A file that exists is not overwritten")
    func existingFile() throws {
        let scratch = try Scratch()
        try scratch.write(Data("new".utf8), to: "folder/a")
        let file = try scratch.write(Data("old".utf8), to: "a.zip")
        #expect(throws: FileError.self) {
            try ZipWriter.write(folder: scratch.url.appending(path: "folder"), to: file)
        }
        #expect(try Data(contentsOf: file) == Data("old".utf8))
    }

    @Test("A writer that has finished or failed accepts nothing more")
    func closed() throws {
        struct Full: Error {}
        let finished = ZipWriter { _ in }
        try finished.finish()
        let failed = ZipWriter { _ in throw Full() }
        #expect(throws: Full.self) { try failed.add("a", from: Data()) }
        for writer in [finished, failed] {
            for work in [
                { try writer.add("b", from: Data()) }, { try writer.addDirectory("c") }, { try writer.finish() },
            ] {
                let error = #expect(throws: ZipError.self) { try work() }
                #expect(error?.code == .writerClosed)
            }
        }
    }

    @Test("Times are checked and have a resolution of two seconds")
    func times() throws {
        let time = try #require(ZipTime(year: 2107, month: 12, day: 31, hour: 23, minute: 59, second: 59))
        #expect(time.description == "2107-12-31 23:59:58")
        #expect(ZipTime.earliest == ZipTime(year: 1980, month: 1, day: 1))
        #expect(ZipTime(year: 1979, month: 12, day: 31) == nil)
        #expect(ZipTime(year: 2000, month: 0, day: 1) == nil)
        #expect(ZipTime(year: 2000, month: 1, day: 1, hour: 24) == nil)
        let bytes = try ZipWriter.bytes { try $0.add("a", from: Data(), modified: time) }
        #expect(try ZipArchive(DataSource(bytes)).entries.map(\.modified) == [time])
    }
}

extension Data {
    /// Text that deflate compresses about as well as real text.
    static func words(_ count: Int, seed: UInt64 = 1) -> Data {
        var random = SeededGenerator(seed: seed)
        let words = (0..<200).map { _ in String(random.next(), radix: 36).prefix(Int.random(in: 2...8, using: &random))
        }
        var data = Data(capacity: count + 10)
        while data.count < count { data.append(contentsOf: "\(words[Int.random(in: 0..<200, using: &random)]) ".utf8) }
        return data.prefix(count)
    }
}
