import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationHTTP
import WaystationStorage
import WaystationTestSupport

@testable import WaystationRecording

@Suite("Hostile recordings")
struct HostileRecordingTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    @Test("into a store that does not work are an error of the store, and no response is skipped")
    func unusableStore() async throws {
        let file = try place.file("a file", Data())
        let store = ResponseStore(directory: file.appending(path: "http"))
        await store.flush()
        let har = #"""
            {"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [
              {"request": {"method": "GET", "url": "https://shop.example/a", "headers": []},
               "response": {"status": 200, "headers": [], "content": {"size": 4, "text": "page"}}}]}}
            """#
        let recording = try place.file("session.har", Data(har.utf8))
        let error = await #expect(throws: StoreError.self) { try await store.importRecording(at: recording) }
        #expect(error?.code == .unavailable)
        #expect(error?.message.contains("Not a directory") == true)
    }

    @Test("are refused by messages in which their texts are escaped and cut")
    func texts() async throws {
        let hostile = "\u{1B}[2J" + String(repeating: "a", count: 5_000)
        let record = try place.file("record.warc", Data("WARC/9\(hostile)\r\n\r\n".utf8))
        let store = ResponseStore(directory: place.folder.appending(path: "http"))
        let error = await #expect(throws: RecordingError.self) { try await store.importRecording(at: record) }
        let har = #"""
            {"log": {"version": "1.2", "creator": {"name": "t", "version": "1"}, "entries": [
              {"request": {"method": "\u001b[2J\n\u202e", "url": "https://shop.example/a", "headers": []},
               "response": {"status": 200, "headers": [], "content": {"size": 4, "text": "page"}}}]}}
            """#
        let session = try place.file("session.har", Data(har.utf8))
        let report = try await store.importRecording(at: session)
        let texts = [error?.description, report.skipped.first?.detail].compactMap(\.self)
        #expect(texts.count == 2)
        for text in texts {
            #expect(text.contains("\\u{1B}[2J"))
            #expect(text.unicodeScalars.allSatisfy { !$0.isHidden })
            #expect(text.count < 500)
        }
    }

    /// The contents of a file, and the expected outcome.
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let bytes: Data
        let code: String

        init(_ name: String, _ text: String, _ code: String) {
            self.init(name, Data(text.utf8), code)
        }

        init(_ name: String, _ bytes: Data, _ code: String) {
            testDescription = name
            self.bytes = bytes
            self.code = code
        }
    }

    private static let good = "WARC/1.0\r\nWARC-Type: metadata\r\nContent-Length: 2\r\n\r\nab\r\n\r\n"

    static let files: [Case] = [
        Case("no version", "WARC-Type: response\r\n\r\n", "invalidVersion"),
        Case("an old version", "WARC/0.16\r\nWARC-Type: x\r\nContent-Length: 0\r\n\r\n", "invalidVersion"),
        Case("a version to come", "WARC/2.0\r\n\r\n", "invalidVersion"),
        Case("space behind the version", "WARC/1.0 \r\n\r\n", "invalidVersion"),
        Case("a version alone", "WARC/1.0", "truncated"),
        Case("a version and a line end", "WARC/1.0\r\n", "truncated"),
        Case("a header without end", "WARC/1.0\r\nWARC-Type: response\r\nContent-Length: 0\r\n", "truncated"),
        Case("no fields", "WARC/1.0\r\n\r\n", "invalidLength"),
        Case("no length", "WARC/1.0\r\nWARC-Type: response\r\n\r\n", "invalidLength"),
        Case("a length of nothing", "WARC/1.0\r\nWARC-Type: x\r\nContent-Length:\r\n\r\n", "invalidLength"),
        Case("a negative length", "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: -1\r\n\r\n", "invalidLength"),
        Case("a signed length", "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: +1\r\n\r\na\r\n\r\n", "invalidLength"),
        Case("a length in hexadecimal", "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 0x1\r\n\r\n", "invalidLength"),
        Case("a length in Arabic digits", "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: ١\r\n\r\na", "invalidLength"),
        Case(
            "a length beyond 64 bits",
            "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
            "invalidLength"
        ),
        Case(
            "two lengths",
            "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab\r\n\r\n",
            "invalidLength"
        ),
        Case(
            "the greatest length",
            "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 9223372036854775807\r\n\r\nabc",
            "truncated"
        ),
        Case("a block cut off", "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 10\r\n\r\nabc", "truncated"),
        Case("no type", "WARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n", "invalidHeader"),
        Case("a line without a colon", "WARC/1.0\r\nWARC-Type response\r\n\r\n", "invalidHeader"),
        Case("a field without a name", "WARC/1.0\r\n: response\r\n\r\n", "invalidHeader"),
        Case("a name with space", "WARC/1.0\r\nWARC Type: response\r\n\r\n", "invalidHeader"),
        Case("a name that is not ASCII", "WARC/1.0\r\nWÄRC-Type: response\r\n\r\n", "invalidHeader"),
        Case("a NUL in a header", "WARC/1.0\r\nWARC-Type: a\0b\r\n\r\n", "invalidHeader"),
        Case("a folded line first", "WARC/1.0\r\n folded\r\n\r\n", "invalidHeader"),
        Case("a short length", "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 1\r\n\r\nabc\r\n\r\n", "invalidRecordEnd"),
        Case(
            "one line end and other bytes",
            "WARC/1.0\r\nWARC-Type: x\r\nContent-Length: 1\r\n\r\na\r\nWARD/1.0\r\n",
            "invalidRecordEnd"
        ),
        Case("bytes behind a record", good + "junk\r\n\r\n", "invalidVersion"),
        Case("a second record cut off", good + "WARC/1.0\r\nWARC-Ty", "truncated"),
        Case("a header too long", "WARC/1.0\r\n" + String(repeating: "X-A: b\r\n", count: 20_000), "tooLarge"),
        Case("a line too long", "WARC/1.0\r\nX-A: " + String(repeating: "b", count: 200_000), "tooLarge"),
        Case("a line without end", "WARC/" + String(repeating: "1", count: 200_000), "tooLarge"),
        Case("gzip and nothing else", Data([0x1F, 0x8B]), "truncated"),
        Case("gzip with another method", Data([0x1F, 0x8B, 7, 0, 0, 0, 0, 0, 0, 3, 1, 2, 3]), "damagedCompression"),
        Case(
            "gzip with junk",
            Data([0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 0xFF, 0xFF, 0xFF, 0xFF]),
            "damagedCompression"
        ),
        Case("HAR: nothing", "{", "damagedJSON"),
        Case("HAR: a trailing comma", #"{"log": {"entries": [,]}}"#, "damagedJSON"),
        Case(
            "HAR: text that is not UTF-8",
            Data(#"{"log": ""#.utf8) + Data([0xC3, 0x28]) + Data("\"}".utf8),
            "invalidHAR"
        ),
        Case("HAR: too deep", #"{"log": {"entries": "# + String(repeating: "[", count: 100_000), "damagedJSON"),
        Case("HAR: another object", #"{"name": "value"}"#, "invalidHAR"),
        Case("HAR: a log of another type", #"{"log": [1]}"#, "invalidHAR"),
        Case("HAR: no entries", #"{"log": {"version": "1.2"}}"#, "invalidHAR"),
        Case("HAR: entries of another type", #"{"log": {"version": "1.2", "entries": {}}}"#, "invalidHAR"),
        Case("HAR: a version to come", #"{"log": {"version": "2.0", "entries": []}}"#, "invalidHAR"),
        Case(
            "HAR: a version to come, behind the entries",
            #"{"log": {"entries": [], "version": "2.0"}}"#,
            "invalidHAR"
        ),
        Case("HAR: a member without a name", #"{"log": {7: 1, "entries": []}}"#, "damagedJSON"),
        Case("HAR: a member without a colon", #"{"log" {"entries": []}}"#, "damagedJSON"),
        Case("nothing", "", "unknownFormat"),
        Case("a page", "<!doctype html>", "unknownFormat"),
        Case("a zip", Data([0x50, 0x4B, 3, 4, 0, 0]), "unknownFormat"),
    ]

    @Test("are refused with a named error and its position", arguments: files)
    func refused(file: Case) async throws {
        let isReaderCase = file.testDescription.hasPrefix("HAR") || file.code == "unknownFormat"
        let url = try place.file("recording", file.bytes)
        if isReaderCase {
            let store = ResponseStore(directory: place.file("http"))
            let error = await #expect(throws: RecordingError.self) { try await store.importRecording(at: url) }
            #expect(error?.code.description == file.code, "\(error.map { "\($0)" } ?? "")")
        } else {
            let error = #expect(throws: RecordingError.self) {
                let reader = try WARCReader(contentsOf: url)
                while try reader.next() != nil {}
            }
            #expect(error?.code.description == file.code, "\(error.map { "\($0)" } ?? "")")
        }
    }

    @Test("cause errors that name the byte and the line")
    func positions() throws {
        let reader = try WARCReader(DataSource(Data((Self.good + "WARC/1.1\r\nWARC-Type: x\r\nbroken\r\n").utf8)))
        #expect(try reader.next()?.block == Data("ab".utf8))
        let error = #expect(throws: RecordingError.self) { try reader.next() }
        #expect(error?.position == .init(offset: Self.good.utf8.count, line: 3))
        #expect(error?.message.hasSuffix("(byte \(Self.good.utf8.count), line 3 of the record)") == true)
        let har = #expect(throws: RecordingError.self) {
            try HARArchive(
                Data(
                    #"{"log": {"entries": [{"request": {"method": "GET", "url": "http://a/"}}, {"request": {}}]}}"#.utf8
                )
            )
        }
        #expect(har?.message.contains("log.entries[1].request.method is missing") == true)
    }

    /// The HTTP block of a response, and the expected outcome: the number of bytes, or the reason for leaving it out.
    static let blocks: [(name: String, block: String, outcome: String)] = [
        ("nothing", "", "damagedHead"),
        ("no end of the head", "HTTP/1.1 200 OK\r\nA: b\r\n", "damagedHead"),
        ("no status line", "hello\r\n\r\n", "damagedHead"),
        ("a status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "damagedHead"),
        ("a status beyond 599", "HTTP/1.1 999 OK\r\n\r\n", "damagedHead"),
        ("a signed status", "HTTP/1.1 +20 OK\r\n\r\n", "damagedHead"),
        ("an interim response", "HTTP/1.1 100 Continue\r\n\r\n", "status"),
        ("an error", "HTTP/1.1 500 Oops\r\n\r\n", "status"),
        ("a part", "HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-0/2\r\n\r\na", "status"),
        ("not modified", "HTTP/1.1 304 Not Modified\r\n\r\n", "status"),
        ("Vary: *", "HTTP/1.1 200 OK\r\nVary: *\r\n\r\n", "notStorable"),
        ("a body without framing", "HTTP/1.1 200 OK\r\n\r\nabc", "3"),
        ("line ends of LF alone", "HTTP/1.0 200\nA: b\n\nabc", "3"),
        ("a length", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nab", "2"),
        ("a length that is too short", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nab", "2"),
        ("a length that is too long", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", "incomplete"),
        ("a negative length", "HTTP/1.1 200 OK\r\nContent-Length: -3\r\n\r\nab", "damagedHead"),
        ("a length that is not a number", "HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nab", "damagedHead"),
        ("a signed length", "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nab", "damagedHead"),
        ("one length twice", "HTTP/1.1 200 OK\r\nContent-Length: 2 , 02\r\n\r\nab", "2"),
        ("two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "damagedHead"),
        (
            "chunks",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nab\r\nA\r\n0123456789\r\n0\r\nT: t\r\n\r\n",
            "12"
        ),
        ("chunks without end", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "incomplete"),
        ("a chunk cut off", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nab", "incomplete"),
        (
            "a chunk of no size", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nab\r\n0\r\n\r\n",
            "damagedBody"
        ),
        (
            "a negative chunk", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\nab\r\n0\r\n\r\n",
            "damagedBody"
        ),
        (
            "the greatest chunk",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7fffffffffffffff\r\nab\r\n", "damagedBody"
        ),
        (
            "a chunk of 2^60", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\nab\r\n",
            "incomplete"
        ),
        (
            "a chunk longer than it says", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n",
            "damagedBody"
        ),
        ("another transfer coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\nab", "transferCoding"),
        ("bytes that are not Brotli", "HTTP/1.1 200 OK\r\nContent-Encoding: br\r\n\r\nab", "2"),
        ("an unknown coding", "HTTP/1.1 200 OK\r\nContent-Encoding: zip\r\n\r\nab", "2"),
        ("no coding by another name", "HTTP/1.1 200 OK\r\nContent-Encoding: none\r\n\r\nab", "2"),
        ("bytes that are not gzip", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nab", "2"),
        (
            "bytes that are not deflate", "HTTP/1.1 200 OK\r\nContent-Encoding: deflate\r\n\r\n\u{7F}\u{7F}\u{7F}", "3"
        ),
        (
            "a hundred codings",
            "HTTP/1.1 200 OK\r\nContent-Encoding: " + String(repeating: "gzip,", count: 100) + "\r\n\r\nab",
            "contentCoding"
        ),
        ("fields that are no HTTP", "HTTP/1.1 200 OK\r\nA b: c\r\nD: e\u{0}f\r\n: g\r\nh\r\n\r\nab", "2"),
        (
            "fields without number",
            "HTTP/1.1 200 OK\r\n" + String(repeating: "A: b\r\n", count: 3_000) + "\r\nab", "damagedHead"
        ),
    ]

    @Test("have HTTP blocks that are imported, or left out for a named reason", arguments: blocks)
    func block(name: String, block: String, outcome: String) async throws {
        let record = Self.record(block: Data(block.utf8))
        let report = try await place.cache().importRecording(at: place.file("one.warc", record))
        let found = report.imported.first.map { "\($0.bytes)" } ?? report.skipped.first?.reason.description
        #expect(found == outcome, "\(report.skipped)")
        #expect(report.imported.count + report.skipped.count == 1)
    }

    private static func record(
        _ type: String = "response",
        url: String = "http://shop.example/",
        fields: String = "",
        block: Data
    ) -> Data {
        let head = """
            WARC/1.1\r\nWARC-Type: \(type)\r\nWARC-Target-URI: \(url)\r\n\(fields)Content-Length: \(block.count)\r\n\r\n
            """
        return Data(head.utf8) + block + Data("\r\n\r\n".utf8)
    }

    @Test("have bodies that are left out if they become too large when decoded, and memory stays bounded")
    func bomb() async throws {
        let packed = try place.gzipped(Data(count: 50 << 20))
        #expect(packed.count < 100 << 10)
        var options = ImportOptions()
        options.warc.maximumBlockSize = .mebibytes(1)
        let head = Data("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n".utf8)
        let file = try place.file("bomb.warc", Self.record(block: head + packed))
        let report = try await place.cache().importRecording(at: file, options: options)
        #expect(report.skipped.map(\.reason) == [.tooLarge])
    }

    @Test("that are HARs above the limit are refused before they are read")
    func largeHAR() async throws {
        let file = try place.file(
            "large.har",
            Data(#"{"log": {"entries": []}}"#.utf8) + Data(repeating: 0x20, count: 5_000)
        )
        #expect(throws: RecordingError.self) { try HARArchive(contentsOf: file, maximumSize: .bytes(1_000)) }
        #expect(try HARArchive(contentsOf: file).entries.isEmpty)
        let packed = try place.file("large.har.gz", place.gzipped(Data(contentsOf: file)))
        #expect(try HARArchive(contentsOf: packed).entries.isEmpty)
        #expect(throws: RecordingError.self) { try HARArchive(contentsOf: packed, maximumSize: .bytes(1_000)) }
    }

    @Test("have resources and revisits that are imported, but no revisit of an unknown record and no answer to a POST")
    func sorts() async throws {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
        let records = [
            Self.record(
                url: "<http://shop.example/a>",
                fields: "WARC-Record-ID: <urn:a>\r\nWARC-Payload-Digest: sha1:A\r\n",
                block: Data((head + "\r\nbody").utf8)
            ),
            Self.record(
                "revisit",
                url: "http://shop.example/b",
                fields: "WARC-Payload-Digest: sha1:A\r\n",
                block: Data((head + "X-B: 1\r\n\r\n").utf8)
            ),
            Self.record(
                "revisit",
                url: "http://shop.example/c",
                fields: "WARC-Payload-Digest: sha1:C\r\n",
                block: Data((head + "\r\n").utf8)
            ),
            Self.record(
                "resource",
                url: "http://shop.example/d",
                fields: "Content-Type: text/css\r\n",
                block: Data("p{}".utf8)
            ),
            Self.record("resource", url: "file:///etc/passwd", block: Data("root".utf8)),
            Self.record(
                "response",
                url: "http://shop.example/e",
                fields: "WARC-Record-ID: <urn:e>\r\n",
                block: Data((head + "\r\nx").utf8)
            ),
            Self.record(
                "request",
                url: "http://shop.example/e",
                fields: "WARC-Concurrent-To: <urn:e>\r\n",
                block: Data("POST /e HTTP/1.1\r\n\r\nsecret".utf8)
            ),
            Self.record("conversion", url: "http://shop.example/f", block: Data("x".utf8)),
        ]
        let cache = try place.cache()
        let report = try await cache.importRecording(at: place.file("sorts.warc", records.reduce(Data(), +)))
        #expect(report.imported.map(\.url) == ["a", "b", "d"].map { "http://shop.example/\($0)" })
        #expect(report.reasons == ["/c": "revisit", "/etc/passwd": "url", "/e": "method"])
        let session = try offline(cache)
        let b = try #require(URL(string: "http://shop.example/b"))
        #expect(try await session.data(from: b).0 == Data("body".utf8))
        let d = try #require(URL(string: "http://shop.example/d"))
        #expect(try await session.data(from: d).1.mimeType == "text/css")
    }

    /// Responses that are replaced by a later record of the file, each followed by a revisit of its body.
    private static var replaced: Data {
        let head = "HTTP/1.1 200 OK\r\n\r\n"
        func record(_ type: String, _ path: String, _ fields: String, _ body: String = "") -> Data {
            Self.record(
                type,
                url: "http://shop.example/\(path)",
                fields: fields + "\r\n",
                block: Data((head + body).utf8)
            )
        }
        return [
            record("response", "a", "WARC-Payload-Digest: sha1:A", "one"),
            record("revisit", "a", "WARC-Payload-Digest: sha1:A"),
            record("revisit", "b", "WARC-Payload-Digest: sha1:A"),
            record("response", "c", "WARC-Record-ID: <urn:c>", "two"),
            record("revisit", "c", "WARC-Record-ID: <urn:again>\r\nWARC-Refers-To: <urn:c>"),
            record("revisit", "d", "WARC-Refers-To: <urn:c>"),
            record("revisit", "e", "WARC-Refers-To: <urn:again>"),
            record("response", "f", "WARC-Payload-Digest: sha1:F", "three"),
            record("response", "f", "WARC-Payload-Digest: sha1:G", "four"),
            record("revisit", "g", "WARC-Payload-Digest: sha1:F"),
        ].reduce(Data(), +)
    }

    @Test("have revisits of bodies whose response was replaced in the same import")
    func replacements() async throws {
        let cache = try place.cache()
        let report = try await cache.importRecording(at: place.file("replaced.warc", Self.replaced))
        #expect(report.skipped.isEmpty, "\(report.skipped)")
        let session = try offline(cache)
        let bodies = ["a": "one", "b": "one", "c": "two", "d": "two", "e": "two", "f": "four", "g": "three"]
        for (path, body) in bodies {
            let url = try #require(URL(string: "http://shop.example/\(path)"))
            let loaded = try? await session.data(from: url).0
            #expect(loaded == Data(body.utf8), "\(path)")
        }
    }

    @Test("have revisits whose body is read from the store if it has no room in memory, or is left out if replaced")
    func withoutRoom() async throws {
        let source = DataSource(Self.replaced)
        let store = ResponseStore(directory: place.file("http"))
        var recording = RecordingImport(store, ImportOptions())
        var records = try WARCImport([source], WARCReader.Limits(), roomForBodies: 0)
        try await records.run([source], into: &recording)
        #expect(recording.report.reasons == ["/g": "revisit"])
        #expect(recording.report.imported.map(\.bytes) == [3, 3, 3, 3, 3, 3, 3, 5, 4])
    }

    @Test("that are cut off give no answer to a request that may be in the lost part")
    func lostRequests() async throws {
        let block = Data("HTTP/1.1 200 OK\r\n\r\nbody".utf8)
        let concurrent = "WARC-Record-ID: <urn:a>\r\nWARC-Concurrent-To: <urn:post>\r\n"
        let named = Self.record(url: "http://shop.example/a", fields: concurrent, block: block)
        let known =
            Self.record(url: "http://shop.example/b", fields: "WARC-Record-ID: <urn:b>\r\n", block: block)
            + Self.record(
                "request",
                url: "http://shop.example/b",
                fields: "WARC-Concurrent-To: <urn:b>\r\n",
                block: Data("GET /b HTTP/1.1\r\n\r\n".utf8)
            )
        let unnamed = Self.record(url: "http://shop.example/c", fields: "WARC-Record-ID: <urn:c>\r\n", block: block)
        for (records, answered) in [(named, [String]()), (known + unnamed, ["b"]), (unnamed, ["c"])] {
            let cache = try place.cache()
            let file = try place.file("cut.warc", records + Data("WARC/1.1\r\nWARC-Type: request\r\n".utf8))
            let error = await #expect(throws: RecordingError.self) { try await cache.importRecording(at: file) }
            #expect(error?.code == .truncated)
            let session = try offline(cache)
            var found: [String] = []
            for path in ["a", "b", "c"] {
                let url = try #require(URL(string: "http://shop.example/\(path)"))
                if let (data, _) = try? await session.data(from: url), data == Data("body".utf8) { found.append(path) }
            }
            #expect(found == answered)
        }
    }

    @Test("made by changing one byte of a good one give records or a named error", arguments: [1, 2, 3] as [UInt64])
    func changed(seed: UInt64) async throws {
        let block =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Encoding: identity\r\n\r\n3\r\nabc\r\n0\r\n\r\n"
        let warc = Self.record(fields: "WARC-Date: 2026-11-01T10:00:00.5Z\r\n", block: Data(block.utf8))
        let har = Data(
            #"{"log":{"version":"1.2","entries":[{"startedDateTime":"2026-11-01T10:00:00.000Z","time":1e3,"request":{"method":"GET","url":"http://a.example/","headers":[]},"response":{"status":200,"headers":[],"content":{"size":1,"text":"YQ==","encoding":"base64"}}}]}}"#
                .utf8
        )
        var generator = SeededGenerator(seed: seed)
        let store = ResponseStore(directory: place.file("http"))
        var outcomes = 0
        for good in [warc, har, try place.gzipped(warc)] {
            for _ in 0..<150 {
                var bytes = good
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    bytes[Int.random(in: bytes.indices, using: &generator)] = UInt8.random(
                        in: 0...255,
                        using: &generator
                    )
                }
                do {
                    _ = try await store.importRecording(at: place.file("changed", bytes))
                } catch is RecordingError {}
                outcomes += 1
            }
        }
        #expect(outcomes == 450)
    }

    @Test(
        "have times that are read in every form that HAR and WARC write",
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2026-11-01T10:00:00.123Z", 1_793_527_200.123),
            ("2026-11-01T11:00:00+01:00", 1_793_527_200), ("2026-11-01T05:30:00-0430", 1_793_527_200),
            ("2026-11-01T10:00:00.123456789Z", 1_793_527_200.123456789), ("2026-11-01T10:00Z", 1_793_527_200),
            ("2026-11-01", 1_793_491_200), ("2024-02-29", 1_709_164_800), ("2026-11", 1_793_491_200),
            ("2026", 1_767_225_600),
            ("2026-02-29", nil), ("2026-13-01", nil), ("2026-11-01T25:00:00Z", nil), ("yesterday", nil), ("", nil),
            ("2026-11-01T10:00:00Zx", nil), ("٢٠٢٦", nil), ("2026-11-01T10:00:00.Z", nil), ("-026", nil),
        ] as [(String, Double?)]
    )
    func times(text: String, seconds: Double?) {
        #expect(Timestamp.date(text)?.timeIntervalSince1970 == seconds)
    }
}
