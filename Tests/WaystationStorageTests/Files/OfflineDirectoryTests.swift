import Foundation
import Glibc
import HTTPTypes
import Testing
import WaystationStorage

@Suite("Offline directory")
struct OfflineDirectoryTests {
    @Test("A root that is missing, not a directory or not a file URL is refused with advice")
    func unusableRoots() throws {
        let site = try TemporarySite(["file": "x"])
        func code(_ url: URL?) -> OfflineDirectoryError.Code? {
            guard let url else { return nil }
            do throws(OfflineDirectoryError) {
                _ = try OfflineDirectory(url)
                return nil
            } catch {
                #expect(error.message.contains("; "), "the message says what to do")
                return error.code
            }
        }
        #expect(code(site.root.appending(path: "missing")) == .missing)
        #expect(code(site.root.appending(path: "file")) == .notADirectory)
        #expect(code(URL(string: "https://site.example/")) == .notADirectory)
    }

    @Test("An index document must be a bare name", arguments: ["../secret.txt", "", ".", "a/b", "a\\b"])
    func indexDocumentNames(_ name: String) throws {
        let site = try TemporarySite()
        #expect {
            _ = try site.directory(.init(indexDocuments: [name]))
        } throws: {
            ($0 as? OfflineDirectoryError)?.code == .invalidOptions
        }
    }

    @Test("A GET is answered with the bytes and all fields that are known")
    func get() throws {
        let site = try TemporarySite(["page.html": "<p>é</p>"])
        site.touch("page.html", seconds: 784_111_777)
        let answer = try #require(try site.directory().answer(FileRequest(path: "page.html")).answer)
        #expect(answer.status == .ok)
        #expect(answer.length == 9)
        #expect(try answer.body.text() == "<p>é</p>")
        #expect(answer.headerFields[.contentType] == "text/html; charset=utf-8")
        #expect(answer.headerFields[.contentLength] == "9")
        #expect(answer.headerFields[.lastModified] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(answer.headerFields[.acceptRanges] == "bytes")
        #expect(answer.headerFields[.contentEncoding] == nil)
    }

    @Test("The ETag is the start of the content's SHA-256, in memory and on disk", arguments: [0, 1 << 20])
    func entityTag(residentFileLimit: Int) throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try site.directory(.init(residentFileLimit: residentFileLimit, chunkSize: 2))
        let answer = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        // ba7816bf 8f01cfea 414140de 5dae2223 …
        #expect(answer.headerFields[.eTag] == "\"ungWv48Bz-pBQUDeXa4iIw\"")
    }

    @Test("A HEAD has the fields of a GET and no body", arguments: [0, 1 << 20])
    func head(residentFileLimit: Int) throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try site.directory(.init(residentFileLimit: residentFileLimit))
        let head = try #require(directory.answer(FileRequest(method: .head, path: "a.txt")).answer)
        let get = try #require(directory.answer(FileRequest(path: "a.txt")).answer)
        #expect(head.headerFields == get.headerFields)
        #expect(head.length == 0)
        #expect(get.length == 3)
        let ranged = FileRequest(method: .head, path: "a.txt", headerFields: [.range: "bytes=0-0"])
        #expect(directory.answer(ranged).answer?.status == .ok)
    }

    @Test("An empty file has an empty body")
    func emptyFile() throws {
        let site = try TemporarySite(["empty.css": ""])
        let answer = try #require(try site.directory().answer(FileRequest(path: "empty.css")).answer)
        #expect(answer.length == 0)
        #expect(answer.headerFields[.contentLength] == "0")
        #expect(answer.headerFields[.contentType] == "text/css; charset=utf-8")
    }

    @Test("Other methods are answered with 405", arguments: [HTTPRequest.Method.post, .put, .delete, .options, .patch])
    func otherMethods(_ method: HTTPRequest.Method) throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let answer = try #require(try site.directory().answer(FileRequest(method: method, path: "a.txt")).answer)
        #expect(answer.status == .methodNotAllowed)
        #expect(answer.headerFields[.allow] == "GET, HEAD")
    }

    @Test("A directory is answered with the first index document that it has")
    func indexDocuments() throws {
        let site = try TemporarySite(["a/index.htm": "second", "b/index.html": "first", "b/index.htm": "second"])
        let directory = try site.directory()
        #expect(try directory.answer(FileRequest(path: "a/")).answer?.body.text() == "second")
        #expect(try directory.answer(FileRequest(path: "b/")).answer?.body.text() == "first")
        let own = try site.directory(.init(indexDocuments: ["index.htm"]))
        #expect(try own.answer(FileRequest(path: "b/")).answer?.body.text() == "second")
    }

    @Test("An index document that appears ahead of the one in memory is found")
    func earlierIndexDocument() throws {
        let site = try TemporarySite(["a/index.htm": "second"])
        let directory = try site.directory()
        _ = directory.answer(FileRequest(path: "a/"))
        try site.write("first", to: "a/index.html")
        #expect(directory.resident(path: "a/") == nil)
        #expect(try directory.answer(FileRequest(path: "a/")).answer?.body.text() == "first")
    }

    @Test(
        "A directory's path without a slash at the end is redirected relative to where it is mounted",
        arguments: [
            ("docs", nil, "./docs/"), ("docs", "a=b&c", "./docs/?a=b&c"), ("docs/in%20side", nil, "./in%20side/"),
            ("a:b", nil, "./a:b/"), ("caf%C3%A9", nil, "./caf%C3%A9/"),
        ] as [(String, String?, String)]
    )
    func redirect(path: String, query: String?, location: String) throws {
        let site = try TemporarySite([
            "docs/index.html": "", "docs/in side/index.html": "", "a:b/index.html": "", "caf\u{E9}/index.html": "",
        ])
        let answer = try #require(try site.directory().answer(FileRequest(path: path, query: query)).answer)
        #expect(answer.status == .movedPermanently)
        #expect(answer.headerFields[.location] == location)
    }

    @Test("A FIFO is refused at once, even if it is the index document")
    func fifo() throws {
        let site = try TemporarySite()
        #expect(mkfifo(site.path("index.html"), 0o600) == 0)
        let directory = try site.directory()
        for path in ["index.html", "/"] {
            guard case .refused(let refusal) = directory.answer(FileRequest(path: path)) else {
                Issue.record("not refused")
                return
            }
            #expect(refusal.code == .notARegularFile)
        }
    }

    @Test("A file without read permission fails, and the error names the reason")
    func unreadableFile() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        chmod(site.path("a.txt"), 0)
        chmod(site.root.path(percentEncoded: false), 0o755)
        let directory = try site.directory()
        guard case .failed(let error) = try withoutPrivileges({ directory.answer(FileRequest(path: "a.txt")) }) else {
            Issue.record("not failed")
            return
        }
        #expect(error.code == .unreadable)
        #expect(error.errorNumber == EACCES)
        #expect(error.message.contains("Permission denied (errno 13); give this process permission"))
    }

    @Test("A file that lost its read permission is not served from memory either")
    func permissionTakenAway() throws {
        let site = try TemporarySite(["a.txt": "abc"])
        let directory = try site.directory()
        _ = directory.answer(FileRequest(path: "a.txt"))
        #expect(directory.resident(path: "a.txt") != nil)
        // The change time has the resolution of a clock tick, so this sets one that certainly differs.
        chmod(site.path("a.txt"), 0)
        site.touch("a.txt", seconds: 1)
        #expect(directory.resident(path: "a.txt") == nil)
    }

    /// Runs the body as a user who is not exempt from permissions, on this thread only.
    private func withoutPrivileges<Value>(_ body: () -> Value) throws -> Value {
        guard geteuid() == 0 else { return body() }
        let symbol = try #require(dlsym(dlopen(nil, RTLD_NOW), "setfsuid"))
        let setFileSystemUser = unsafeBitCast(symbol, to: (@convention(c) (uid_t) -> CInt).self)
        _ = setFileSystemUser(65_534)
        defer { _ = setFileSystemUser(0) }
        return body()
    }
}
