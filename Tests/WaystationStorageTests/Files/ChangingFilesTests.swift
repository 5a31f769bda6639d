import Foundation
import Glibc
import HTTPTypes
import Testing
import WaystationStorage

/// Uses the real clock, since these tests are about the file system's own clock ticks.
@Suite("Files that change")
struct ChangingFilesTests {
    @Test("Each version is noticed at once, however soon after the last one it was written", arguments: [100, 1 << 20])
    func rewrittenInPlace(residentFileLimit: Int) throws {
        let site = try TemporarySite()
        let directory = try OfflineDirectory(site.root, options: .init(residentFileLimit: residentFileLimit))
        var tags = Set<String>()
        for version in 1000..<1500 {
            let text = String(repeating: "\(version) ", count: 100)
            let file = open(site.path("a.txt"), O_WRONLY | O_CREAT, 0o600)
            #expect(write(file, text, text.utf8.count) == text.utf8.count)
            close(file)
            let resident = directory.resident(path: "a.txt")
            let answer = try #require(resident ?? directory.answer(FileRequest(path: "a.txt")).answer)
            #expect(try answer.body.text() == text)
            tags.insert(try #require(answer.headerFields[.eTag]))
        }
        #expect(tags.count == 500)
    }

    @Test("Readers on many threads see whole versions with the correct tags while files are replaced")
    func replacedWhileRead() async throws {
        let site = try TemporarySite()
        let versions = (0..<4).map { String(repeating: "\($0)", count: 3000 + $0) }
        // The tag of each version, taken from a site of its own.
        var textByTag: [String: String] = [:]
        for (index, text) in versions.enumerated() {
            try site.write(text, to: "versions/\(index).txt")
            let answer = try site.directory().answer(FileRequest(path: "versions/\(index).txt")).answer
            textByTag[try #require(answer?.headerFields[.eTag])] = text
        }
        try site.write(versions[0], to: "a.txt")
        let directory = try OfflineDirectory(site.root, options: .init(residentLimit: 20_000))
        let expected = textByTag
        let (from, to) = (site.path("new.txt"), site.path("a.txt"))

        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 0..<400 {
                    try Data(versions[round % 4].utf8).write(to: URL(filePath: from))
                    #expect(rename(from, to) == 0)
                }
            }
            for reader in 0..<4 {
                group.addTask {
                    for round in 0..<400 {
                        let path = (round + reader) % 3 == 0 ? "%61.txt" : "a.txt"
                        let resident = directory.resident(path: path)
                        let answer = try #require(resident ?? directory.answer(FileRequest(path: path)).answer)
                        let tag = try #require(answer.headerFields[.eTag])
                        #expect(try answer.body.text() == expected[tag])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try directory.answer(FileRequest(path: "a.txt")).answer?.body.text() == versions[399 % 4])
    }
}
