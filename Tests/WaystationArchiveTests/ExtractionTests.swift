import Foundation
import Synchronization
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationArchive

@Suite("Extraction")
struct ExtractionTests {
    private let scratch: Scratch
    private let archive: ZipArchive
    private let contents: [String: Data]

    init() throws {
        scratch = try Scratch()
        var files: [String: Data] = ["large.bin": .random(5 << 20), "empty": Data(), "a/b/c/deep.txt": .words(70_000)]
        for number in 0..<50 { files["many/\(number).txt"] = .words(number * 100) }
        let bytes = try ZipWriter.bytes { writer in
            try writer.addDirectory("nothing/here")
            for (path, data) in files.sorted(by: { $0.key < $1.key }) { try writer.add(path, from: data) }
        }
        for directory in ["a/", "a/b/", "a/b/c/", "many/", "nothing/", "nothing/here/"] { files[directory] = Data() }
        contents = files
        archive = try ZipArchive(DataSource(bytes))
    }

    @Test("Extraction creates every file and directory, and nothing else", arguments: [false, true])
    func extract(synchronizes: Bool) async throws {
        try await archive.extract(into: scratch.url.appending(path: "out"), synchronizes: synchronizes)
        #expect(try scratch.tree("out") == contents)
        #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.url.path) == ["out"])
    }

    @Test("A directory entry that claims to have content is neither extracted nor read", arguments: [0, 1])
    func lyingDirectory(kind: Int) async throws {
        let entry = RawEntry("d/").with { entry in
            if kind == 0 {
                entry.crc32 = 1
            } else {
                (entry.method, entry.data, entry.compressedSize) = (8, [0xFF, 0xFF], 2)
            }
        }
        let archive = try ZipArchive(DataSource(RawZip([entry]).data))
        #expect(throws: ZipError.self) { try archive.read(archive.entries[0]) }
        await #expect(throws: ZipError.self) { try await archive.extract(into: scratch.url.appending(path: "out")) }
    }

    @Test("A directory entry without data is extracted as a directory, even if its method is deflate")
    func deflatedDirectory() async throws {
        let archive = try ZipArchive(DataSource(RawZip([RawEntry("d/").with { $0.method = 8 }]).data))
        #expect(try archive.read(archive.entries[0]).isEmpty)
        try await archive.extract(into: scratch.url.appending(path: "out"))
        #expect(try scratch.tree("out") == ["d/": Data()])
    }

    @Test("Progress is reported in order, once for each completed entry, and ends at the totals")
    func progress() async throws {
        let reports = Mutex<[ExtractionProgress]>([])
        try await archive.extract(into: scratch.url.appending(path: "out")) { report in
            reports.withLock { $0.append(report) }
        }
        let all = reports.withLock { $0 }
        let last = try #require(all.last)
        #expect(last.entriesDone == archive.entries.count)
        #expect(last.entriesTotal == archive.entries.count)
        #expect(last.bytesDone == archive.totalSize)
        #expect(last.bytesTotal == archive.totalSize)
        #expect(
            zip(all, all.dropFirst()).allSatisfy { $0.entriesDone <= $1.entriesDone && $0.bytesDone <= $1.bytesDone }
        )
        #expect(Set(all.map(\.entriesDone)).isSuperset(of: 1...archive.entries.count))
        #expect(Set(all.map(\.path)) == Set(archive.entries.map(\.path)))
        #expect(all.count { $0.path == "large.bin" } >= 5)
    }

    @Test("Extraction accepts only a new or empty directory", arguments: ["full", "file", "link"])
    func freshOnly(target: String) async throws {
        try scratch.write(Data("old".utf8), to: "full/large.bin")
        try scratch.write(Data("old".utf8), to: "file")
        try FileManager.default.createDirectory(atPath: scratch.path("elsewhere"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: scratch.path("link"), withDestinationPath: "elsewhere")
        let before = try scratch.tree("")
        let error = await #expect(throws: ZipError.self) {
            try await archive.extract(into: scratch.url.appending(path: target))
        }
        #expect(error?.code == .targetNotFresh)
        #expect(try scratch.tree("") == before)
    }

    @Test("Extraction accepts an existing empty directory")
    func emptyDirectory() async throws {
        try FileManager.default.createDirectory(atPath: scratch.path("out"), withIntermediateDirectories: false)
        try await archive.extract(into: scratch.url.appending(path: "out"))
        #expect(try scratch.tree("out") == contents)
    }

    @Test("Extracting a damaged entry throws an error with the entry's name")
    func damage() async throws {
        let zip = RawZip([RawEntry("good"), RawEntry("bad").with { $0.crc32 ^= 1 }])
        let error = await #expect(throws: ZipError.self) {
            try await ZipArchive(DataSource(zip.data)).extract(into: scratch.url.appending(path: "out"))
        }
        #expect(error?.code == .checksumMismatch)
        #expect(error?.entry == "bad")
    }

    @Test("A cancelled extraction throws a CancellationError before it reaches its end")
    func cancellation() async throws {
        let cancel = Mutex<(@Sendable () -> Void)?>(nil)
        let started = AsyncStream<Void>.makeStream()
        let task = Task { [archive, scratch] in
            for await _ in started.stream {}
            try await archive.extract(into: scratch.url.appending(path: "out")) { report in
                // At the first report, most of the work is still to be done.
                if report.entriesDone == 1 { cancel.withLock { $0 }?() }
            }
        }
        cancel.withLock { $0 = { task.cancel() } }
        started.continuation.finish()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(try scratch.tree("out") != contents)
    }

    @Test("An extraction that was cancelled before its start writes nothing")
    func cancelledBefore() async throws {
        let task = Task { [archive, scratch] in
            withUnsafeCurrentTask { $0?.cancel() }
            try await archive.extract(into: scratch.url.appending(path: "out"))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: scratch.path("out")))
    }

    /// Collects the bytes of one file.
    private struct Collector: EntryObserver {
        let path: String
        let store: @Sendable (String, Data) throws -> Void
        var data = Data()

        mutating func receive(_ bytes: UnsafeRawBufferPointer) { data.append(contentsOf: bytes) }
        mutating func finish() throws { try store(path, data) }
    }

    @Test("Observers receive the bytes of the files that they were created for")
    func observers() async throws {
        let seen = Mutex<[String: Data]>([:])
        try await archive.extract(
            into: scratch.path("out"),
            using: LocalFileSystem(),
            observe: { entry in
                guard entry.path != "empty" else { return nil }
                return Collector(path: entry.path) { path, data in seen.withLock { $0[path] = data } }
            }
        )
        #expect(seen.withLock { $0 } == contents.filter { !$0.key.hasSuffix("/") && $0.key != "empty" })
    }

    @Test("Extraction throws the error that an observer throws")
    func refusingObserver() async throws {
        struct WrongDigest: Error {}
        await #expect(throws: WrongDigest.self) {
            try await archive.extract(
                into: scratch.path("out"),
                using: LocalFileSystem(),
                observe: { Collector(path: $0.path) { path, _ in if path == "many/9.txt" { throw WrongDigest() } } }
            )
        }
    }

    @Test("Extraction throws a failure of the disk unchanged")
    func diskFailure() async throws {
        try scratch.write(Data(), to: "file")
        let error = await #expect(throws: FileError.self) {
            try await archive.extract(into: scratch.url.appending(path: "file/out"))
        }
        #expect(error?.code == ENOTDIR)
    }
}
