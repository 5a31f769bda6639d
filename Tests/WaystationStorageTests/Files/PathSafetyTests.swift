import Foundation
import Glibc
import HTTPTypes
import Testing
import WaystationStorage

/// A site with everything that a spelling could try to reach, and a secret next to it.
private final class HostileSite: Sendable {
    static let shared = Result { try HostileSite() }
    let site: TemporarySite
    let directory: OfflineDirectory

    init() throws {
        let site = try TemporarySite()
        try Data("SECRET".utf8).write(to: site.enclosure.appending(path: "secret.txt"))
        let files = [
            "index.html", "page.html", "docs/index.html", "docs/page.html", "docs/deep/page.html", ".hidden", "..data",
            ".../page.html", ".../index.html", "a b.html", "100%.html", "%2e", "\u{E9}.html", "\u{C5}.txt", "C:",
            "a:b/index.html", "q?x#y.html", "semi;colon",
        ]
        for file in files { try site.write("<p>\(file)", to: file) }
        for folder in ["empty", "linked-index"] {
            try FileManager.default.createDirectory(atPath: site.path(folder), withIntermediateDirectories: true)
        }
        let secret = site.enclosure.appending(path: "secret.txt").path(percentEncoded: false)
        for (link, target) in [
            "link-out": "../secret.txt", "link-absolute": secret, "link-up": "..", "link-root": "/",
            "link-inside": "page.html", "link-docs": "docs", "link-loop": "link-loop", "link-dangling": "nothing",
            "link-pipe": "pipe", "docs/link-up-two": "../..", "docs/link-sibling": "page.html",
            "linked-index/index.html": "../page.html", "link-self": ".",
        ] { try site.link(link, to: target) }
        #expect(mkfifo(site.path("pipe"), 0o600) == 0)
        #expect(mknod(site.path("docs/socket"), S_IFSOCK | 0o600, 0) == 0)
        directory = try site.directory()
        self.site = site
        // Hundreds of test cases share the site, so none of them can remove it.
        atexit {
            guard let site = try? HostileSite.shared.get().site else { return }
            try? FileManager.default.removeItem(at: site.enclosure)
        }
    }
}

@Suite("Path safety")
struct PathSafetyTests {
    @Test("There are enough spellings, each of them once")
    func enoughSpellings() {
        #expect(PathSpelling.all.count >= 220)
        #expect(Set(PathSpelling.all.map { Array($0.path.utf8) }).count == PathSpelling.all.count)
    }

    @Test("No spelling leaves the directory, and each gets the expected outcome", arguments: PathSpelling.all)
    func spelling(_ spelling: PathSpelling) throws {
        let directory = try HostileSite.shared.get().directory
        // The second answer comes from memory, the third bypasses the resident look-up; all three must be the same.
        for range in [nil, nil, "bytes=0-"] {
            var fields = HTTPFields()
            fields[.range] = range
            switch directory.answer(FileRequest(path: spelling.path, headerFields: fields)) {
            case .answer(let answer):
                #expect(spelling.verdict == (answer.status == .movedPermanently ? "redirect" : "found"))
                #expect(try !answer.body.text().contains("SECRET"))
            case .notFound: #expect(spelling.verdict == "notFound")
            case .refused(let refusal): #expect(spelling.verdict == refusal.code.description)
            case .failed(let error): Issue.record(error)
            }
        }
    }

    @Test("A refused path is never in memory", arguments: PathSpelling.all.filter { $0.verdict != "found" })
    func notResident(_ spelling: PathSpelling) throws {
        #expect(try HostileSite.shared.get().directory.resident(path: spelling.path) == nil)
    }

    @Test("Paths decode once into exact names")
    func components() throws {
        #expect(try OfflinePath.components(of: "").get() == [])
        #expect(try OfflinePath.components(of: "/").get() == [])
        #expect(try OfflinePath.components(of: "/a/b%20c/").get() == ["a", "b c"])
        #expect(try OfflinePath.components(of: "%252e%252e/%25").get() == ["%2e%2e", "%"])
        let decomposed = try OfflinePath.components(of: "e%CC%81").get()
        #expect(decomposed.map { Array($0.utf8) } == [[0x65, 0xCC, 0x81]])
        let longest = String(repeating: "a", count: 255)
        #expect(try OfflinePath.components(of: longest).get() == [longest])
    }

    @Test("A refusal names the broken rule and escapes control characters")
    func refusalMessage() {
        guard case .failure(let refusal) = OfflinePath.components(of: "a\u{1B}[2J") else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.description == "refused 'a\\u{1B}[2J': the path has a control character")
    }

    @Test("A path in another Unicode form does not find a file that is in memory")
    func unicodeFormsInMemory() throws {
        let site = try TemporarySite(["\u{E9}.html": "x"])
        let directory = try site.directory()
        #expect(directory.answer(FileRequest(path: "\u{E9}.html")).answer != nil)
        #expect(directory.resident(path: "\u{E9}.html") != nil)
        #expect(directory.resident(path: "e\u{301}.html") == nil)
    }

    @Test("A directory replaced by a link to the outside no longer leads to files")
    func exchangedDirectory() throws {
        let site = try TemporarySite(["docs/page.html": "inside"])
        let outside = site.enclosure.appending(path: "outside")
        try FileManager.default.createDirectory(at: outside, withIntermediateDirectories: true)
        try Data("SECRET".utf8).write(to: outside.appending(path: "page.html"))
        let directory = try site.directory()
        #expect(directory.answer(FileRequest(path: "docs/page.html")).answer != nil)
        #expect(directory.resident(path: "docs/page.html") != nil)

        try FileManager.default.removeItem(atPath: site.path("docs"))
        try site.link("docs", to: "../outside")

        #expect(directory.resident(path: "docs/page.html") == nil)
        guard case .refused(let refusal) = directory.answer(FileRequest(path: "docs/page.html")) else {
            Issue.record("not refused")
            return
        }
        #expect(refusal.code == .symbolicLink)
    }
}
