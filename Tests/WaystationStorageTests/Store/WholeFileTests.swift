import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport

@Suite("Files that are read whole")
struct WholeFileTests {
    private let fixture: StoreFixture
    private var file: URL { fixture.directory.appending(path: "file") }

    init() throws {
        fixture = try StoreFixture()
        try FileManager.default.createDirectory(at: fixture.directory, withIntermediateDirectories: true)
    }

    private func expectTooLarge(_ limit: Int, _ read: () throws -> Data?) {
        let error = #expect(throws: FileError.self) { _ = try read() }
        #expect(error?.code == EOVERFLOW)
        #expect(error?.description.contains(file.path) == true)
        #expect(error?.description.contains("\(limit) bytes") == true)
    }

    @Test("a file up to the limit is read")
    func fitting() throws {
        for count in [0, 1, 100] {
            let bytes = Data(repeating: 0x61, count: count)
            try bytes.write(to: file)
            #expect(try LocalFileSystem().readFile(file.path, limit: 100) == bytes)
            #expect(try Data(readingFile: file, limit: 100) == bytes)
        }
    }

    @Test("a file over the limit is not read, and the error names it and the limit", arguments: [101, 64 << 30])
    func tooLarge(size: Int) throws {
        try SparseFile.make(at: file, size: UInt64(size))
        expectTooLarge(100) { try LocalFileSystem().readFile(file.path, limit: 100) }
        expectTooLarge(100) { try Data(readingFile: file, limit: 100) }
    }

    @Test("a file that a person names may be a link, or one of the kernel's whose size is not known")
    func named() throws {
        try Data("linked".utf8).write(to: file)
        let link = fixture.directory.appending(path: "link")
        try FileManager.default.createSymbolicLink(at: link, withDestinationURL: file)
        #expect(try Data(readingFile: link, limit: 100) == Data("linked".utf8))
        #expect(try Data(readingFile: URL(filePath: "/proc/self/status"), limit: 1 << 20).starts(with: "Name:".utf8))
        let endless = #expect(throws: FileError.self) {
            try Data(readingFile: URL(filePath: "/dev/zero"), limit: 1 << 20)
        }
        #expect(endless?.code == EOVERFLOW)
    }

    @Test("a missing file is no file, or an error where a person named it")
    func missing() throws {
        #expect(try LocalFileSystem().readFile(file.path, limit: 100) == nil)
        let error = #expect(throws: FileError.self) { try Data(readingFile: file, limit: 100) }
        #expect(error?.code == ENOENT)
    }
}
