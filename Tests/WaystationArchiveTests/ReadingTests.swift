import Foundation
import Testing
import WaystationStorage

@testable import WaystationArchive

@Suite("Reading")
struct ReadingTests {
    private func open(_ zip: RawZip, _ change: (inout ZipLimits) -> Void = { _ in }) throws -> ZipArchive {
        var limits = ZipLimits()
        change(&limits)
        return try ZipArchive(DataSource(zip.data), limits: limits)
    }

    @Test("Entries come in the directory's order, with the properties that it states")
    func entries() throws {
        let time = try #require(ZipTime(year: 2024, month: 2, day: 29, hour: 23, minute: 59, second: 58))
        let archive = try open(
            RawZip([
                RawEntry("z.txt", "zzz"), RawEntry("d/"),
                RawEntry("d/a.txt", String(repeating: "a", count: 500), deflated: true).with { $0.time = time.packed },
            ])
        )
        #expect(archive.entries.map(\.path) == ["z.txt", "d", "d/a.txt"])
        #expect(archive.entries.map(\.isDirectory) == [false, true, false])
        #expect(archive.entries.map(\.size) == [3, 0, 500])
        #expect(archive.entries.map(\.method) == [.stored, .stored, .deflated])
        #expect(archive.entries.map(\.offset) == [0, 38, 70])
        let entry = try #require(archive["d/a.txt"])
        #expect(entry.modified.description == "2024-02-29 23:59:58")
        #expect(entry.compressedSize < 20)
        #expect(try archive.read(entry) == Data(repeating: 0x61, count: 500))
        #expect(archive["d"]?.isDirectory == true)
        #expect(archive["D/A.TXT"] == nil)
        #expect(archive["d/"] == nil)
        #expect(archive.totalSize == 503)
    }

    @Test("An archive without entries is sound")
    func empty() throws {
        #expect(try open(RawZip([])).entries.isEmpty)
    }

    @Test("A look-up does not find a path in another Unicode form")
    func exactLookUp() throws {
        let archive = try open(RawZip([RawEntry("\u{E9}")]))
        #expect(archive["\u{E9}"] != nil)
        #expect(archive["e\u{301}"] == nil)
    }

    @Test("Data descriptors are read in all four forms", arguments: [true, false], [true, false])
    func descriptors(signed: Bool, wide: Bool) throws {
        let entries = [
            RawEntry("a", "aaa"), RawEntry("empty", ""),
            RawEntry("b", String(repeating: "b", count: 99), deflated: true),
        ]
        let archive = try open(RawZip(entries.map { $0.describedBehind(signed: signed, wide: wide) }))
        #expect(
            try archive.contents() == ["a": Data("aaa".utf8), "empty": Data(), "b": Data(repeating: 0x62, count: 99)]
        )
    }

    @Test("Zip64 records and fields are read even if the sizes are small")
    func zip64() throws {
        let entry = RawEntry("a", String(repeating: "a", count: 50), deflated: true)
        var zip = RawZip([
            entry.with {
                ($0.size32, $0.compressedSize32, $0.offset, $0.disk) = (.max, .max, .max, .max)
                $0.extra = RawEntry.field(
                    1,
                    Array(RawEntry.zip64($0.size, $0.compressedSize, 0).dropFirst(4)) + [0, 0, 0, 0]
                )
                $0.localExtra = RawEntry.zip64($0.size, $0.compressedSize)
            }
        ])
        zip.zip64 = .init()
        zip.end = .init(disk: .max, directoryDisk: .max, entriesOnDisk: .max, entries: .max, size: .max, offset: .max)
        #expect(try open(zip).contents() == ["a": Data(repeating: 0x61, count: 50)])
    }

    /// The numbers that a zip64 field has beyond those for which its header has no room.
    struct WideForm: Sendable, CustomTestStringConvertible {
        let testDescription: String
        /// How many of size and compressed size do not fit in the headers.
        let needed: Int
        /// How many of size, compressed size and offset are in the directory's field.
        let listed: Int
        var hasDisk = false
        /// How many of size, compressed size and offset are in the local header's field.
        var listedLocally = 2
    }

    private static let wideForms = [
        WideForm(testDescription: "sizes needed, offset repeated", needed: 2, listed: 3),
        WideForm(testDescription: "sizes needed, offset and disk repeated", needed: 2, listed: 3, hasDisk: true),
        WideForm(testDescription: "size needed, compressed size repeated", needed: 1, listed: 2),
        WideForm(testDescription: "nothing needed, all repeated", needed: 0, listed: 3, hasDisk: true),
        WideForm(testDescription: "offset in the local header too", needed: 2, listed: 2, listedLocally: 3),
    ]

    @Test("A zip64 field that repeats numbers of its header is read", arguments: wideForms)
    func repeatingZip64(form: WideForm) throws {
        let entry = RawEntry("a", String(repeating: "a", count: 50), deflated: true).with {
            if form.needed > 0 { $0.size32 = .max }
            if form.needed > 1 { $0.compressedSize32 = .max }
            let numbers = [$0.size, $0.compressedSize, 0]
            func field(_ count: Int, then rest: [UInt8] = []) -> [UInt8] {
                var content: [UInt8] = []
                for number in numbers.prefix(count) { content.append(littleEndian: number) }
                return RawEntry.field(1, content + rest)
            }
            $0.extra = field(form.listed, then: form.hasDisk ? [0, 0, 0, 0] : [])
            $0.localExtra = field(form.listedLocally)
        }
        #expect(try open(RawZip([entry])).contents() == ["a": Data(repeating: 0x61, count: 50)])
    }

    @Test(
        "A directory that states the size of its own file and has no data is read",
        arguments: [ZipMethod.stored, .deflated]
    )
    func sizedDirectory(method: ZipMethod) async throws {
        let zip = RawZip([
            RawEntry("d/").with { ($0.size, $0.method) = (4_096, method.rawValue) }, RawEntry("d/a", "one"),
        ])
        let archive = try open(zip)
        #expect(archive.entries.map(\.size) == [0, 3])
        #expect(archive.totalSize == 3)
        #expect(try archive.read(archive.entries[0]).isEmpty)
        let scratch = try Scratch()
        try await archive.extract(into: scratch.url.appending(path: "out"))
        #expect(try scratch.tree("out") == ["d/": Data(), "d/a": Data("one".utf8)])
    }

    @Test("An entry that a tool read from a pipe or a socket is a file", arguments: [0o010_600, 0o140_777] as [UInt32])
    func streamed(mode: UInt32) throws {
        let zip = RawZip([RawEntry("-", "from a pipe").with { $0.attributes = mode << 16 }])
        #expect(try open(zip).contents() == ["-": Data("from a pipe".utf8)])
    }

    @Test("A comment of any length is skipped", arguments: [1, 1_000, 65_535])
    func comment(length: Int) throws {
        var zip = RawZip([RawEntry("a")])
        zip.comment = [UInt8](repeating: 0x50, count: length)
        #expect(try open(zip).entries.count == 1)
    }

    @Test("An end record inside the comment is ignored if it does not reach the file's end")
    func fakeEnd() throws {
        var zip = RawZip([RawEntry("real")])
        zip.comment = Array(RawZip([RawEntry("fake")]).data) + Array("and more".utf8)
        #expect(try open(zip).entries.map(\.path) == ["real"])
        #expect(try open(zip) { $0.toleratedJunk = .trailing }.entries.map(\.path) == ["real"])
    }

    @Test("An archive that is an entry of another archive is not mistaken for the outer one", arguments: [false, true])
    func nested(deflated: Bool) throws {
        let inner = Array(RawZip([RawEntry("inner")]).data)
        let archive = try open(RawZip([RawEntry(Array("outer.zip".utf8), inner, deflated: deflated)]))
        #expect(archive.entries.map(\.path) == ["outer.zip"])
    }

    @Test("Junk with parts of another archive is skipped if the limits tolerate it")
    func junk() throws {
        let hidden = RawEntry("hidden").local
        var zip = RawZip([RawEntry("a", "one"), RawEntry("b", "two").with { $0.gap = hidden }])
        (zip.leading, zip.beforeDirectory, zip.trailing) = (hidden, [3], hidden)
        for countsLeading in [true, false] {
            zip.countsLeading = countsLeading
            let archive = try open(zip) { $0.toleratedJunk = [.leading, .between, .trailing] }
            #expect(try archive.contents() == ["a": Data("one".utf8), "b": Data("two".utf8)])
            for missing: ZipLimits.Junk in [.leading, .between, .trailing] {
                #expect(throws: ZipError.self) {
                    try open(zip) { $0.toleratedJunk = ZipLimits.Junk(rawValue: 7).subtracting(missing) }
                }
            }
        }
    }

    @Test("An archive that exactly reaches the limits is accepted")
    func atTheLimits() throws {
        let zip = RawZip([RawEntry("d/12345", "12345678")])
        let archive = try open(zip) {
            ($0.maximumEntries, $0.maximumEntrySize, $0.maximumTotalSize) = (2, 8, 8)
            ($0.maximumNameLength, $0.maximumDepth) = (7, 2)
        }
        #expect(archive.entries.count == 1)
        let small = RawEntry(Array("zeros".utf8), [UInt8](repeating: 0, count: 1 << 20), deflated: true)
        #expect(try open(RawZip([small])).entries.count == 1)
    }

    @Test("Names without the UTF-8 flag are code page 437")
    func codePage437() throws {
        // In two names, since a single one would be longer than a file name may be.
        let halves = [Array(UInt8(0x80)..<0xC0), Array(UInt8(0xC0)...0xFF)]
        let archive = try open(RawZip(halves.map { bytes in RawEntry(bytes, []).with { $0.flags = 0 } }))
        // The text to which Python's codec decodes the same bytes.
        let expected = [
            "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
            "└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}",
        ]
        #expect(archive.entries.map(\.path) == expected)
        #expect(archive.entries.map(\.path.unicodeScalars.count) == [64, 64])
    }

    @Test(
        "Names without the UTF-8 flag are UTF-8 unless they are not valid as such or were made on MS-DOS or OS/2",
        arguments: 0...19 as ClosedRange<UInt8>
    )
    func unmarkedByHost(host: UInt8) throws {
        let entry = RawEntry("\u{E9}").with { ($0.flags, $0.host, $0.attributes) = (0, host, 0x20) }
        let zip = RawZip([entry, entry.with { $0.name = [0x81] }])
        let isOEM = [0, 6].contains(host)
        #expect(try open(zip).entries.map(\.path) == [isOEM ? "├⌐" : "\u{E9}", "ü"])
        #expect(try open(zip) { $0.unmarkedNames = .codePage437 }.entries.map(\.path) == ["├⌐", "ü"])
    }

    @Test("Names without the UTF-8 flag are UTF-8 from every system if the caller requests it")
    func unmarkedUTF8() throws {
        let zip = RawZip([RawEntry("\u{E9}").with { ($0.flags, $0.host) = (0, 0) }])
        #expect(try open(zip).entries.map(\.path) == ["├⌐"])
        #expect(try open(zip) { $0.unmarkedNames = .utf8 }.entries.map(\.path) == ["\u{E9}"])
        #expect(throws: ZipError.self) {
            try open(RawZip([RawEntry([0xFF], []).with { $0.flags = 0 }])) { $0.unmarkedNames = .utf8 }
        }
    }

    @Test("A Unicode Path field counts only if it was made for the entry's name")
    func unicodePath() throws {
        let path = Array("\u{E9}.txt".utf8)
        let entry = RawEntry("e.txt").with { $0.flags = 0 }
        let made = entry.with { $0.extra = RawEntry.unicodePath(path, for: $0.name) }
        #expect(try open(RawZip([made])).entries.map(\.path) == ["\u{E9}.txt"])
        let onlyInDirectory = made.with { $0.localExtra = [] }
        #expect(try open(RawZip([onlyInDirectory])).entries.map(\.path) == ["\u{E9}.txt"])
        let outdated = entry.with { $0.extra = RawEntry.unicodePath(path, for: [0x66]) }
        #expect(try open(RawZip([outdated])).entries.map(\.path) == ["e.txt"])
    }

    @Test("Unusual but harmless names are accepted")
    func harmlessNames() throws {
        let names = [
            "...", "..a", "a..", ".hidden", "a b", "%2e%2e", "~", "-rf", "ab:c", "1:x", "\u{E9}:x", "*", "?",
            "\u{1F600}", "a/...", "con", "nul.txt",
        ]
        #expect(try open(RawZip(names.map { RawEntry($0) })).entries.map(\.path) == names)
    }

    @Test("Contents that contradict the headers are refused", arguments: lies)
    func lie(_ lie: Refusal) throws {
        let archive = try ZipArchive(DataSource(lie.data))
        let entry = try #require(archive.entries.last)
        var seen = 0
        let error = #expect(throws: ZipError.self) { try archive.read(entry) { seen += $0.count } }
        #expect(error?.code == lie.code)
        #expect(seen <= entry.size)
    }

    private static let lies: [Refusal] = {
        let long = RawEntry("long", String(repeating: "long ", count: 40_000), deflated: true)
        let stored = RawEntry("stored")
        return [
            Refusal("stored, CRC", .checksumMismatch, stored.with { $0.crc32 ^= 1 }),
            Refusal("deflated, CRC", .checksumMismatch, long.with { $0.crc32 ^= 1 }),
            Refusal("stored, another byte", .checksumMismatch, stored.with { $0.data[3] ^= 1 }),
            Refusal("more than stated", .sizeMismatch, long.with { $0.size -= 1 }),
            Refusal("far more than stated", .sizeMismatch, long.with { $0.size = 1 }),
            Refusal("some and none stated", .sizeMismatch, long.with { $0.size = 0 }),
            Refusal("less than stated", .sizeMismatch, long.with { $0.size += 1 }),
            Refusal("no deflate data", .damagedData, long.with { $0.data[0] = 0xFF }),
            Refusal("no data at all", .damagedData, RawEntry("none", "").with { $0.method = 8 }),
            Refusal(
                "cut data",
                .damagedData,
                long.with {
                    $0.data.removeLast(); $0.compressedSize -= 1
                }
            ),
            Refusal(
                "bytes behind the data",
                .damagedData,
                long.with {
                    $0.data.append(0); $0.compressedSize += 1
                }
            ),
            Refusal(
                "bytes far behind the data",
                .damagedData,
                long.with {
                    $0.data += [UInt8](repeating: 0, count: 200_000)
                    $0.compressedSize += 200_000
                }
            ),
        ]
    }()

    @Test("An error that the receiver of an entry's bytes throws ends the reading")
    func thrownByReader() throws {
        struct Enough: Error {}
        let archive = try open(RawZip([RawEntry("long", String(repeating: "long ", count: 40_000), deflated: true)]))
        var pieces = 0
        #expect(throws: Enough.self) {
            try archive.read(archive.entries[0]) { _ in
                pieces += 1
                throw Enough()
            }
        }
        #expect(pieces == 1)
    }

    @Test("All sources give the same contents", arguments: ["data", "file", "map"])
    func sources(kind: String) throws {
        let scratch = try Scratch()
        let zip = RawZip([RawEntry("a"), RawEntry("b", String(repeating: "b", count: 100_000), deflated: true)])
        let file = try scratch.write(zip.data, to: "a.zip")
        let source: any ByteSource =
            switch kind {
            case "file": try FileSource(file)
            case "map": try MappedSource(file)
            default: DataSource(zip.data)
            }
        #expect(try ZipArchive(source).contents() == open(zip).contents())
    }

    @Test("Reading a file that was truncated after it was opened reports a truncated source")
    func shrunk() throws {
        let scratch = try Scratch()
        let file = try scratch.write(RawZip([RawEntry("a"), RawEntry("b", "bb")]).data, to: "a.zip")
        let archive = try ZipArchive(FileSource(file))
        #expect(truncate(file.path, 10) == 0)
        let error = #expect(throws: ZipError.self) { try archive.read(archive.entries[1]) }
        #expect(error?.code == .truncatedSource)
    }
}
