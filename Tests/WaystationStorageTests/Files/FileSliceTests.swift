import Foundation
import Glibc
import HTTPTypes
import Testing
import WaystationStorage

@Suite("Slices of large files")
struct FileSliceTests {
    private let content = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    private func makeSite() throws -> (TemporarySite, OfflineDirectory) {
        let site = try TemporarySite()
        try site.write(content, to: "large.bin")
        site.touch("large.bin", seconds: 1000)
        return (site, try site.directory(.init(residentFileLimit: 1000, chunkSize: 4096)))
    }

    private func slice(_ directory: OfflineDirectory, range: String? = nil) throws -> FileSlice {
        var fields = HTTPFields()
        fields[.range] = range
        let answer = try #require(directory.answer(FileRequest(path: "large.bin", headerFields: fields)).answer)
        guard case .slice(let slice) = answer.body else { throw CancellationError() }
        return slice
    }

    @Test("A large file is read in pieces, and the pieces make up the whole")
    func whole() throws {
        let (site, directory) = try makeSite()
        defer { withExtendedLifetime(site) {} }
        let slice = try slice(directory)
        #expect(slice.offset == 0)
        #expect(slice.length == content.count)
        #expect(slice.chunkSize == 4096)
        #expect(try FileBody.slice(slice).bytes() == content)
    }

    @Test("A range of a large file is a slice of its own and ends where the range ends")
    func range() throws {
        let (site, directory) = try makeSite()
        defer { withExtendedLifetime(site) {} }
        let slice = try slice(directory, range: "bytes=500-99998")
        #expect(slice.offset == 500)
        #expect(try FileBody.slice(slice).bytes() == content[500...99_998])
        #expect(try slice.read(at: slice.length - 1, count: 100).count == 1)
        #expect(try slice.read(at: slice.length, count: 100).isEmpty)
        #expect(try slice.read(at: -1, count: 100).isEmpty)
        #expect(try slice.read(at: 0, count: 0).isEmpty)
        #expect(try slice.read(at: 0, count: .max) == content[500...99_998])
    }

    @Test("A file that shrinks while it is read causes an error, never a short body")
    func shrinking() throws {
        let (site, directory) = try makeSite()
        let slice = try slice(directory)
        #expect(try slice.read(at: 0, count: 4096).count == 4096)
        #expect(truncate(site.path("large.bin"), 50_000) == 0)
        for position in [0, 45_000, 49_999, 50_000, 99_000] {
            #expect {
                try slice.read(at: position, count: 10_000)
            } throws: {
                ($0 as? OfflineDirectoryError)?.code == .changedWhileReading
            }
        }
    }

    @Test("A file rewritten in place while it is read causes an error, so that versions never mix")
    func rewritten() throws {
        let (site, directory) = try makeSite()
        let slice = try slice(directory)
        let file = open(site.path("large.bin"), O_WRONLY)
        #expect(pwrite(file, "new", 3, 0) == 3)
        close(file)
        #expect(throws: OfflineDirectoryError.self) { try slice.read(at: 0, count: 10) }
    }

    @Test("A file replaced by renaming stays readable with its old contents")
    func replaced() throws {
        let (site, directory) = try makeSite()
        let slice = try slice(directory)
        try site.write("new", to: "new.bin")
        #expect(rename(site.path("new.bin"), site.path("large.bin")) == 0)
        #expect(try FileBody.slice(slice).bytes() == content)
        #expect(try directory.answer(FileRequest(path: "large.bin")).answer?.body.text() == "new")
    }

    @Test("A large file's ETag is remembered until the file changes")
    func remembered() throws {
        let (site, directory) = try makeSite()
        func tag() -> String? { directory.answer(FileRequest(path: "large.bin")).answer?.headerFields[.eTag] }
        let first = try #require(tag())
        #expect(tag() == first)
        var changed = content
        changed[99_999] ^= 1
        try site.write(changed, to: "large.bin")
        site.touch("large.bin", seconds: 1001)
        #expect(tag() != first)
    }

    @Test("The descriptor is closed when the last reference is released")
    func closing() throws {
        let (site, directory) = try makeSite()
        let target = site.path("large.bin")
        func isOpen() throws -> Bool {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").contains {
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == target
            }
        }
        var kept: FileSlice? = try slice(directory)
        #expect(kept != nil)
        #expect(try isOpen())
        kept = nil
        #expect(try !isOpen())
    }
}
