import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationArchive
import WaystationStorage
import WaystationTestSupport

@testable import WaystationRecording

@Suite("A web archive answers as of a time")
struct WebArchiveTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    private static func date(_ day: Int) -> Date { Date(timeIntervalSince1970: 1_700_000_000 + Double(day) * 86_400) }

    private static func record(
        _ path: String,
        type: String = "response",
        id: String? = nil,
        day: Int = 0,
        fields: [String] = [],
        _ block: String
    ) -> Data {
        let lines =
            [
                "WARC/1.1", "WARC-Type: \(type)", "WARC-Record-ID: <urn:\(id ?? "\(type)-\(path)-\(day)")>",
                "WARC-Date: \(Timestamp.text(date(day)))", "WARC-Target-URI: http://shop.example/\(path)",
            ] + fields + ["Content-Length: \(block.utf8.count)", "", ""]
        return Data((lines.joined(separator: "\r\n") + block + "\r\n\r\n").utf8)
    }

    private static func ok(_ body: String, _ fields: String = "Content-Type: text/html\r\n") -> String {
        "HTTP/1.1 200 OK\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
    }

    private static let digest = "WARC-Payload-Digest: sha1:67KNKHPOSY2YTJTZFYTPJ6AJULY4AKRP"

    /// The records of a small archive.
    private static let records: [Data] =
        [
            record("", type: "warcinfo", fields: ["Content-Type: application/warc-fields"], "software: test\r\n"),
            // The body of this revisit record is in a record after it.
            record(
                "copy",
                type: "revisit",
                day: 2,
                fields: [digest],
                "HTTP/1.1 200 OK\r\nContent-Type: text/css\r\n\r\n"
            ),
            record("page", type: "request", id: "r", "GET /page HTTP/1.1\r\nHost: shop.example\r\n\r\n"),
            record("page", day: 0, fields: ["WARC-Concurrent-To: <urn:r>"], ok("first")),
            record("page", day: 10, ok("second")),
            record("page", day: 20, ok("third", "Content-Type: text/html\r\nSet-Cookie: a=1\r\nConnection: close\r\n")),
            record("half", fields: [digest, "WARC-Truncated: time"], ok("the body")),
            record("body", fields: [digest], ok("the body of both", "X-Own: 1\r\n")),
            record("chain", ok("unchanged since")),
            record(
                "unchanged",
                type: "revisit",
                day: 12,
                fields: [
                    "WARC-Refers-To-Target-URI: http://shop.example/page",
                    "WARC-Refers-To-Date: \(Timestamp.text(date(10)))",
                ],
                "HTTP/1.1 304 Not Modified\r\nX-New: 1\r\n\r\n"
            ),
            record("lost", type: "revisit", fields: ["WARC-Payload-Digest: sha1:WROEVEMSVMLDFJVFT3ALOFEIWJGHQ4IX"], ""),
            record("old", "HTTP/1.1 301 Moved\r\nLocation: /page\r\nContent-Length: 0\r\n\r\n"),
            record("missing", "HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone"),
            record("form", id: "f", fields: ["WARC-Concurrent-To: <urn:p>"], ok("an answer to POST")),
            record("form", type: "request", id: "p", "POST /form HTTP/1.1\r\nHost: shop.example\r\n\r\n"),
            record("cut", day: 5, fields: ["WARC-Truncated: time"], ok("half")),
            record("cut", day: 0, ok("whole")),
            record("film", "HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-3/4\r\nContent-Length: 4\r\n\r\nfilm"),
            record("part", "HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-3/9\r\nContent-Length: 4\r\n\r\npart"),
            record("search?q=[a]|%zz", ok("a query")),
            record("file.txt", type: "resource", fields: ["Content-Type: text/plain"], "a file"),
        ] + (1...12).map { record("chain", type: "revisit", day: $0, "HTTP/1.1 304 Not Modified\r\n\r\n") }

    /// The archive in each form in which it can be played.
    private func archives() throws -> [(name: String, file: URL)] {
        let plain = Self.records.reduce(Data(), +)
        let members = try Self.records.map { try place.gzipped($0) }
        var index = ""
        var offset = 0
        for (record, member) in zip(Self.records, members) {
            let read = try #require(try WARCReader(DataSource(record)).next())
            defer { offset += member.count }
            guard ["response", "resource", "revisit"].contains(read.type), let date = read.date else { continue }
            var line = CDXJLine(
                url: read.targetURI ?? "",
                date: date,
                mime: read.type == "revisit" ? "warc/revisit" : "text/html",
                status: "200",
                digest: read["WARC-Payload-Digest"],
                length: member.count,
                offset: offset,
                filename: "data.warc.gz"
            ).text
            if read.id == "urn:f" { line = line.dropLast() + ", \"method\": \"POST\"}" }
            index += line + "\n"
        }
        let warc = members.reduce(Data(), +)
        var files = [
            ("plain", try place.file("a.warc", plain)), ("gzip", try place.file("a.warc.gz", warc)),
        ]
        for (name, entries) in [
            ("WACZ", [("archive/data.warc.gz", warc), ("indexes/index.cdx.gz", try place.gzipped(Data(index.utf8)))]),
            ("WACZ with a plain index", [("archive/data.warc.gz", warc), ("indexes/index.cdxj", Data(index.utf8))]),
            ("WACZ without an index", [("archive/data.warc.gz", warc)]),
        ] {
            files.append((name, try wacz(name, entries)))
        }
        return files
    }

    private func wacz(
        _ name: String,
        _ entries: [(String, Data)],
        _ compression: ZipWriter.Compression = .stored
    ) throws -> URL {
        var bytes = Data()
        let writer = ZipWriter { bytes.append(contentsOf: $0) }
        for (path, data) in entries { try writer.add(path, from: data, compression: compression) }
        try writer.finish()
        return try place.file("\(name).wacz", bytes)
    }

    private func session(_ route: Route) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://shop.example/**", via: route)]
            $0.makeTransport = { _ in NoNetwork() }
        }
        return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    private func request(_ path: String, _ fields: [String: String] = [:]) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: "http://shop.example/\(path)")))
        for (name, value) in fields { request.setValue(value, forHTTPHeaderField: name) }
        return request
    }

    private func load(_ request: URLRequest, _ session: URLSession) async throws -> (String, HTTPURLResponse) {
        let (data, response) = try await session.data(for: request)
        return (String(decoding: data, as: UTF8.self), try #require(response as? HTTPURLResponse))
    }

    @Test("in every form, with the records that it refers to")
    func forms() async throws {
        for (name, file) in try archives() {
            let session = try session(.archive(file: file))
            for (path, expected) in [
                ("page", "third"), ("chain", "unchanged since"), ("body", "the body of both"),
                ("copy", "the body of both"), ("unchanged", "second"),
                ("old", "third"), ("cut", "whole"), ("film", "film"), ("search?q=[a]|%25zz", "a query"),
                ("file.txt", "a file"),
            ] {
                let url = path.replacing("[", with: "%5B").replacing("]", with: "%5D").replacing("|", with: "%7C")
                let (body, response) = try await load(request(url), session)
                #expect(body == expected, "\(name): \(path)")
                #expect(response.statusCode == 200, "\(name): \(path)")
            }
            let missing = try await load(request("missing"), session)
            #expect(missing.0 == "gone" && missing.1.statusCode == 404, "\(name)")
            for path in ["form", "lost", "part", "never"] {
                await #expect(throws: URLError.self, "\(name): \(path)") { try await load(request(path), session) }
            }
        }
    }

    @Test("with the fields of the response, without those of the connection, and with the time of the capture")
    func fields() async throws {
        let session = try session(.archive(file: archives()[1].file))
        let page = try await load(request("page"), session).1
        #expect(page.value(forHTTPHeaderField: "Content-Type") == "text/html")
        #expect(page.value(forHTTPHeaderField: "Content-Length") == "5")
        #expect(page.value(forHTTPHeaderField: "Memento-Datetime") == "Mon, 04 Dec 2023 22:13:20 GMT")
        for name in ["Set-Cookie", "Connection"] { #expect(page.value(forHTTPHeaderField: name) == nil) }
        let copy = try await load(request("copy"), session).1
        #expect(copy.value(forHTTPHeaderField: "Content-Type") == "text/css")
        let unchanged = try await load(request("unchanged"), session).1
        #expect(unchanged.value(forHTTPHeaderField: "X-New") == "1")
        #expect(unchanged.value(forHTTPHeaderField: "Content-Type") == "text/html")
    }

    @Test("with the capture that is nearest to the time of the rule or of the request")
    func times() async throws {
        let file = try archives()[1].file
        for (day, expected) in [
            (-100, "first"), (4, "first"), (5, "second"), (6, "second"), (16, "third"), (99, "third"),
        ] {
            let session = try session(.archive(file: file, at: Self.date(day)))
            #expect(try await load(request("page"), session).0 == expected, "day \(day)")
        }
        let asked = try session(.archive(file: file, at: Self.date(99)))
        let fields = ["Accept-Datetime": "Tue, 14 Nov 2023 23:00:00 GMT"]
        #expect(try await load(request("page", fields), asked).0 == "first")
        let archive = try WebArchive(contentsOf: file)
        #expect(
            archive.captures(of: try #require(URL(string: "http://shop.example/page"))) == [0, 10, 20].map(Self.date)
        )
        #expect(archive.captures(of: try #require(URL(string: "http://shop.example/never"))).isEmpty)
        #expect(archive.origins == ["http://shop.example"])
        #expect(archive.pages == ["http://shop.example/page"])
    }

    @Test("with ranges, and with fields alone for HEAD")
    func ranges() async throws {
        let session = try session(.archive(file: archives()[0].file))
        let part = try await load(request("body", ["Range": "bytes=4-7"]), session)
        #expect(part.0 == "body" && part.1.statusCode == 206)
        #expect(part.1.value(forHTTPHeaderField: "Content-Range") == "bytes 4-7/16")
        let beyond = try await load(request("body", ["Range": "bytes=99-"]), session)
        #expect(beyond.0 == "" && beyond.1.statusCode == 416)
        #expect(beyond.1.value(forHTTPHeaderField: "Content-Range") == "bytes */16")
        let conditional = try await load(request("body", ["Range": "bytes=4-7", "If-Range": "\"a\""]), session)
        #expect(conditional.0 == "the body of both")
        var head = try request("body")
        head.httpMethod = "HEAD"
        // Only a GET has a range.
        head.setValue("bytes=4-7", forHTTPHeaderField: "Range")
        let fields = try await load(head, session)
        #expect(fields.0 == "" && fields.1.statusCode == 200)
        var post = try request("body")
        post.httpMethod = "POST"
        await #expect(throws: URLError.self) { try await load(post, session) }
    }

    @Test("from a HAR, at the places of its entries")
    func har() async throws {
        func entry(_ path: String, _ day: Int, _ status: Int, _ text: String) -> String {
            """
            {"startedDateTime": "\(Timestamp.text(Self.date(day)))", "time": 1,
             "request": {"method": "GET", "url": "http://shop.example/\(path)", "headers": []},
             "response": {"status": \(status), "headers": [{"name": "Content-Type", "value": "text/html"}],
                          "content": {"mimeType": "text/html", "size": \(text.utf8.count), "text": "\(text)"}}}
            """
        }
        let entries = [
            entry("page", 0, 200, "first"), "7", entry("page", 10, 200, "second"), entry("missing", 0, 404, "gone"),
        ]
        let text = "{\"log\": {\"version\": \"1.2\", \"entries\": [\(entries.joined(separator: " , "))]}}"
        let file = try place.file("a.har", Data(text.utf8))
        let latest = try session(.archive(file: file))
        #expect(try await load(request("page"), latest).0 == "second")
        let missing = try await load(request("missing"), latest)
        #expect(missing.0 == "gone" && missing.1.statusCode == 404)
        let early = try session(.archive(file: file, at: Self.date(1)))
        #expect(try await load(request("page"), early).0 == "first")
        let packed = try place.file("a.har.gz", place.gzipped(Data(text.utf8)))
        #expect(throws: RecordingError.self) { try WebArchive(contentsOf: packed) }
    }

    @Test("from a file that Zstandard has compressed record by record", arguments: ZstandardFiles.all)
    func zstandard(name: String, bytes: Data) async throws {
        let session = try session(.archive(file: place.file("a.warc.zst", bytes)))
        #expect(try await load(request("good"), session).0 == "good\n")
        #expect(try await load(request("page"), session).0 == WARCImportTests.page + "\n")
    }

    @Test("also from a WACZ that an export of a store has written")
    func exported() async throws {
        let cache = try place.cache()
        var options = ImportOptions()
        options.time = .now
        try await cache.importRecording(at: archives()[0].file, options: options)
        await cache.flush()
        let file = place.file("exported.wacz")
        #expect(try StoreInspector(directory: cache.store.directory).export(to: file, as: .wacz) > 5)
        let session = try session(.archive(file: file))
        for (path, body) in [("page", "third"), ("body", "the body of both"), ("copy", "the body of both")] {
            #expect(try await load(request(path), session).0 == body)
        }
    }

    @Test("unless its records cannot be read by their places, or the file is of another kind")
    func refusals() throws {
        let plain = Self.records.reduce(Data(), +)
        func code(_ file: URL) -> RecordingError.Code? {
            do {
                _ = try WebArchive(contentsOf: file)
                return nil
            } catch { return error.code }
        }
        #expect(code(try place.file("whole.warc.gz", place.gzipped(plain))) == .notSeekable)
        #expect(code(try place.file("text", Data("a text".utf8))) == .unknownFormat)
        #expect(code(try wacz("pack", [("index.html", Data("a".utf8))])) == .unknownFormat)
        #expect(code(place.file("absent")) == .unreadable)
        #expect(code(try place.file("cut.warc", plain.prefix(60))) == .truncated)
        // The captures before the damage can be played.
        let damaged = try WebArchive(contentsOf: place.file("damaged.warc", plain.dropLast(60)))
        #expect(damaged.captureCount > 10)
        #expect(damaged.warnings.contains { $0.detail.contains("the captures before it are used") })
        let deflated = try WebArchive(contentsOf: wacz("deflated", [("archive/a.warc", plain)], .deflated))
        #expect(deflated.captureCount > 10)
    }

    @Test("and continues to another source, with an event, when its record was damaged")
    func damaged() async throws {
        let bytes = Self.record(
            "page",
            fields: ["WARC-Block-Digest: sha1:67KNKHPOSY2YTJTZFYTPJ6AJULY4AKRP"],
            Self.ok("a")
        )
        let file = try place.file("a.warc", bytes)
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://shop.example/**", via: try .archive(file: file, orElse: .network))]
            $0.makeTransport = { _ in NoNetwork() }
        }
        let events = interceptor.events
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        await #expect(throws: URLError(.notConnectedToInternet)) { try await session.data(for: request("page")) }
        let event = await events.first { if case .degraded = $0.kind { true } else { false } }
        #expect("\(try #require(event).kind)".contains("do not match its digest"))
    }
}
