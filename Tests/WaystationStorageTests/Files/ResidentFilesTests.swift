import Foundation
import Glibc
import HTTPTypes
import Synchronization
import Testing
import WaystationStorage

@Suite("Files in memory")
struct ResidentFilesTests {
    @Test("A file stays in memory after its first answer, as the same instance")
    func sameInstance() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try site.directory()
        #expect(directory.resident(path: "a.txt") == nil)
        let first = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        #expect(directory.resident(path: "a.txt") === first)
        #expect(directory.resident(FileRequest(path: "a.txt", headerFields: [.accept: "*/*"])) === first)
        #expect(directory.answer(FileRequest(path: "a.txt")).answer === first)
        #expect(directory.answer(FileRequest(path: "%61.txt")).answer === first)
        #expect(directory.resident(path: "%61.txt") === first)
    }

    @Test("HEAD and GET each have their own instance")
    func headInstance() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try site.directory()
        let get = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        let head = try #require(directory.resident(FileRequest(method: .head, path: "a.txt")))
        #expect(head !== get)
        #expect(head.length == 0)
        #expect(directory.resident(FileRequest(method: .head, path: "a.txt")) === head)
    }

    @Test(
        "Requests that depend on more than the file are not answered from memory",
        arguments: [
            FileRequest(path: "a.txt", headerFields: [.range: "bytes=0-"]),
            FileRequest(path: "a.txt", headerFields: [.ifNoneMatch: "*"]),
            FileRequest(path: "a.txt", headerFields: [.ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT"]),
            FileRequest(path: "a.txt", headerFields: [.ifRange: "\"x\""]),
            FileRequest(method: .post, path: "a.txt"),
        ]
    )
    func notPlain(_ request: FileRequest) throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try site.directory()
        _ = directory.answer(FileRequest(path: "a.txt"))
        #expect(directory.resident(path: "a.txt") != nil)
        #expect(directory.resident(request) == nil)
    }

    @Test("A directory's path finds its index document in memory")
    func directory() throws {
        let site = try TemporarySite(["index.html": "x"])
        let directory = try site.directory()
        let answer = directory.answer(FileRequest(path: "")).answer
        #expect(answer != nil)
        #expect(directory.resident(path: "") === answer)
    }

    @Test("A file rewritten with the same number of bytes is noticed by its time alone")
    func rewritten() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        site.touch("a.txt", seconds: 1000, nanoseconds: 1)
        let directory = try site.directory()
        let first = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        try site.write("abd", to: "a.txt")
        site.touch("a.txt", seconds: 1000, nanoseconds: 2)
        #expect(directory.resident(path: "a.txt") == nil)
        let second = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        #expect(try second.body.text() == "abd")
        #expect(first.headerFields[.eTag] != second.headerFields[.eTag])
        #expect(directory.resident(path: "a.txt") === second)
    }

    @Test("A file replaced by renaming is noticed, and a removed one is not found")
    func replacedAndRemoved() throws {
        let site = try TemporarySite(["a.txt": "abc", "b.txt": "abd"])
        for file in ["a.txt", "b.txt"] { site.touch(file, seconds: 1000) }
        let directory = try site.directory()
        _ = directory.answer(FileRequest(path: "a.txt"))
        rename(site.path("b.txt"), site.path("a.txt"))
        #expect(directory.resident(path: "a.txt") == nil)
        #expect(try directory.answer(FileRequest(path: "a.txt")).answer?.body.text() == "abd")
        unlink(site.path("a.txt"))
        #expect(directory.resident(path: "a.txt") == nil)
        guard case .notFound = directory.answer(FileRequest(path: "a.txt")) else {
            Issue.record("found")
            return
        }
    }

    @Test("A file younger than a clock tick is answered, but not kept in memory", arguments: [0, 1 << 20])
    func racyFile(residentFileLimit: Int) throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try OfflineDirectory(
            site.root,
            options: .init(residentFileLimit: residentFileLimit),
            now: { FileTime(seconds: 1000) }
        )
        site.touch("a.txt", seconds: 1000)
        let first = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        #expect(directory.resident(path: "a.txt") == nil)
        try site.write("abd", to: "a.txt")
        site.touch("a.txt", seconds: 1000)
        let second = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        #expect(first.headerFields[.eTag] != second.headerFields[.eTag])
    }

    @Test("The least recently used files are dropped first when memory is full")
    func eviction() throws {
        let site = try TemporarySite()
        let names = (0..<8).map { "\($0).bin" }
        for name in names { try site.write(Data(count: 10_000), to: name) }
        let directory = try site.directory(.init(residentLimit: 60_000))
        for name in names.prefix(4) { _ = directory.answer(FileRequest(path: name)) }
        #expect(names.prefix(4).allSatisfy { directory.resident(path: $0) != nil })
        _ = directory.resident(path: names[0])
        for name in names[4...5] { _ = directory.answer(FileRequest(path: name)) }
        #expect(directory.resident(path: names[0]) != nil)
        #expect(directory.resident(path: names[1]) == nil)
        #expect(directory.resident(path: names[5]) != nil)
    }

    @Test("A file for which there is no room is not kept")
    func noRoom() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let none = try site.directory(.init(residentLimit: 0))
        #expect(none.answer(FileRequest(path: "a.txt")).answer != nil)
        #expect(none.resident(path: "a.txt") == nil)
        let small = try site.directory(.init(residentFileLimit: 2))
        #expect(small.answer(FileRequest(path: "a.txt")).answer != nil)
        #expect(small.resident(path: "a.txt") == nil)
    }

    @Test("Countless spellings of one file do not fill the memory")
    func spellings() throws {
        let site = try TemporarySite(["abcdefgh": "x"])
        let directory = try site.directory()
        let spellings = (0..<256).map { bits in
            "abcdefgh".utf8.enumerated().map { index, byte in
                bits >> index & 1 == 1 ? "%\(String(byte, radix: 16))" : String(UnicodeScalar(byte))
            }.joined()
        }
        for spelling in spellings { #expect(directory.answer(FileRequest(path: spelling)).answer != nil) }
        #expect(spellings.count { directory.resident(path: $0) != nil } == 4)
    }

    @Test("Data that a consumer attaches to an answer stays with it")
    func prepared() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try site.directory()
        directory.answer(FileRequest(path: "a.txt")).answer?.prepared.withLock { $0 = 42 }
        #expect(directory.resident(path: "a.txt")?.prepared.withLock { $0 as? Int } == 42)
    }
}
