import Foundation
import HTTPTypes
import Testing
import Waystation
import WaystationArchive
import WaystationHTTP
import WaystationProcesses
import WaystationStorage
import WaystationTestSupport

@testable import WaystationRecording

/// A store with responses that are hard to write, and what an export makes of it.
@Suite("An export as WARC or WACZ")
struct ExportTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    /// The parts of one response in a store, as far as an export must keep them.
    private struct Stored: Equatable, CustomStringConvertible {
        let method: String
        let url: String
        let status: Int
        let vary: [String]
        let fields: [String]
        let received: Int64
        let body: Data

        init(_ head: StoredHead, _ body: Data) {
            (method, url, status, self.body) = (head.key.method, head.key.url, head.status, body)
            vary = head.vary.nominees.map { "\($0.name.canonicalName): \($0.value ?? "-")" }.sorted()
            fields = head.headerFields.map { "\($0.name.canonicalName): \($0.value)" }.sorted()
            received = head.responseTime.microseconds
        }

        var description: String { "\(method) \(url) \(status) \(vary) \(fields) \(received) \(body.count) bytes" }
    }

    private func contents(of store: ResponseStore) async throws -> [Stored] {
        await store.flush()
        let inspector = try StoreInspector(directory: store.directory)
        return try inspector.entries().compactMap { entry in
            try inspector.response(entry).map { Stored($0.head, try $0.body.contents()) }
        }
    }

    private func store() -> ResponseStore {
        ResponseStore(
            directory: place.folder.appending(path: "store-\(UUID().uuidString)"),
            limits: .unlimited,
            environment: .patient
        )
    }

    private static let received = Date(timeIntervalSince1970: 1_767_225_599.123_457)
    private static let page = Data("<!doctype html><title>Größe</title>\r\n\0\u{1}".utf8)
    private static let large = Data.random(9 << 20, seed: 7)

    /// Responses with bodies of all kinds: empty, of any bytes, large, and equal ones.
    private static var responses: [(path: String, status: Int, fields: HTTPFields, vary: VaryKey, body: Data)] {
        let html: HTTPFields = [.contentType: "text/html; charset=utf-8", .eTag: "\"1\"", .cacheControl: "max-age=60"]
        let any = Data((0..<70_000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
        let language = VaryKey([.init(name: .acceptLanguage, value: "de")])
        return [
            ("", 200, html, .none, page),
            ("copy", 200, html, .none, page),
            ("a?b=c%20d&e=%5Bf%5D", 200, [.contentType: "application/json"], .none, Data(#"{"a":"\r\n"}"#.utf8)),
            ("empty", 200, [.contentType: "text/css"], .none, Data()),
            ("bytes", 200, [.contentType: "image/png"], .none, any),
            ("bytes-again", 200, [.contentType: "image/x-other", .server: "two"], .none, any),
            ("language", 200, [.contentType: "text/plain", .vary: "Accept-Language"], language, Data("Größe".utf8)),
            ("moved", 301, [.location: "https://shop.example/"], .none, Data()),
            ("large", 200, [.contentType: "video/mp4"], .none, large),
            ("large-again", 200, [.contentType: "video/mp4"], .none, large),
            ("looks-like-gzip", 200, [.contentType: "application/gzip"], .none, Data([0x1F, 0x8B, 8, 0, 1, 2, 3])),
            ("looks-like-chunks", 200, [.contentType: "text/plain"], .none, Data("5\r\nhello\r\n0\r\n\r\n".utf8)),
            ("looks-like-a-record", 200, [:], .none, Data("\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n".utf8)),
        ]
    }

    private func filledStore() async throws -> ResponseStore {
        let store = store()
        for response in Self.responses {
            var fields = response.fields
            fields[.date] = HTTPDate(nearestTo: Self.received.timeIntervalSince1970).fieldValue
            let head = StoredHead(
                key: RequestKey(method: "GET", url: "https://shop.example/\(response.path)"),
                status: response.status,
                headerFields: fields,
                vary: response.vary,
                requestTime: Self.received,
                responseTime: Self.received,
                contentLength: response.body.count
            )
            let writer = try #require(store.begin(head))
            writer.append(response.body)
            _ = try await writer.commit()
        }
        await store.flush()
        return store
    }

    private func options() -> ImportOptions {
        var options = ImportOptions()
        options.now = { Self.received.addingTimeInterval(60) }
        return options
    }

    @Test(
        "is imported again with equal keys, fields, times and bytes",
        arguments: ["site.warc", "site.warc.gz", "site.wacz"]
    )
    func roundTrip(name: String) async throws {
        let store = try await filledStore()
        let file = place.file(name)
        let format = try #require(RecordingFormat(of: file))
        let count = try StoreInspector(directory: store.directory).export(to: file, as: format)
        #expect(count == Self.responses.count)
        #expect(try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int == 0o600)

        let other = self.store()
        let report = try await other.importRecording(at: file, options: options())
        #expect(report.skipped.isEmpty, "\(report.skipped)")
        #expect(report.warnings.isEmpty)
        let (before, after) = (try await contents(of: store), try await contents(of: other))
        #expect(before.count == Self.responses.count)
        for (one, two) in zip(before, after) { #expect(one == two) }
        #expect(before.count == after.count)
    }

    @Test("has parts as parts, and joined parts as the whole")
    func parts() async throws {
        let store = store()
        let body = Data.random(1_000, seed: 3)
        for (path, range) in [("whole", 0..<500), ("whole", 400..<1_000), ("part", 0..<100)] {
            let nominee = "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
            let head = StoredHead(
                key: RequestKey(method: "GET", url: "https://shop.example/\(path)"),
                status: 206,
                headerFields: [
                    .contentType: "video/mp4", .eTag: "\"1\"", .cacheControl: "max-age=60",
                    .contentRange: "bytes \(range.lowerBound)-\(range.upperBound - 1)/1000",
                    .date: HTTPDate(nearestTo: Self.received.timeIntervalSince1970).fieldValue,
                ],
                vary: VaryKey([.init(name: .range, value: nominee)]),
                requestTime: Self.received,
                responseTime: Self.received,
                contentLength: range.count
            )
            let writer = try #require(store.begin(head))
            writer.append(body[range])
            _ = try await writer.commit()
        }
        await store.flush()
        let file = place.file("parts.wacz")
        #expect(try StoreInspector(directory: store.directory).export(to: file, as: .wacz) == 2)
        let other = self.store()
        let report = try await other.importRecording(at: file, options: options())
        #expect(report.skipped.isEmpty, "\(report.skipped)")
        let stored = try await contents(of: other)
        #expect(stored.first { $0.url.hasSuffix("whole") }?.body == body)
        #expect(stored.first { $0.url.hasSuffix("whole") }?.status == 200)
        let part = try #require(stored.first { $0.url.hasSuffix("part") })
        #expect(part == (try await contents(of: store)).first { $0.url.hasSuffix("part") })
    }

    @Test("has a revisit for each body that was written before, and every record in a member of its own")
    func records() async throws {
        let store = try await filledStore()
        let file = place.file("site.warc.gz")
        try StoreInspector(directory: store.directory).export(to: file, as: .warc)
        let reader = try WARCReader(contentsOf: file)
        var records: [WARCRecord] = []
        while let record = try reader.next() { records.append(record) }
        #expect(records.first?.type == "warcinfo")
        #expect(records.first?["WARC-Filename"] == "site.warc.gz")
        #expect(records.allSatisfy { $0.version == "1.1" && $0["WARC-Block-Digest"] != nil && $0.isIntact })
        let counts = Dictionary(grouping: records, by: \.type).mapValues(\.count)
        #expect(counts == ["warcinfo": 1, "response": 10, "revisit": 3, "request": 13])
        #expect(Set(records.compactMap(\.id)).count == records.count)
        let revisit = try #require(records.first { $0.type == "revisit" && $0.targetURI?.hasSuffix("copy") ?? false })
        let original = try #require(records.first { $0.targetURI == "https://shop.example/" && $0.type == "response" })
        #expect(revisit["WARC-Profile"] == "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest")
        #expect(revisit["WARC-Payload-Digest"] == original["WARC-Payload-Digest"])
        #expect(revisit["WARC-Payload-Digest"] == "sha256:\(MessageDigest.of(Self.page).hexadecimal)")
        #expect(revisit["WARC-Refers-To"] == original["WARC-Record-ID"])
        #expect(revisit["WARC-Refers-To-Target-URI"] == "https://shop.example/")
        #expect(revisit["WARC-Refers-To-Date"] == "2025-12-31T23:59:59.123457Z")
        let block = try #require(revisit.block)
        #expect(block.starts(with: "HTTP/1.1 200 \r\n".utf8) && block.suffix(4).elementsEqual("\r\n\r\n".utf8))

        // Each member begins with a record.
        let bytes = try Data(contentsOf: file)
        let wacz = place.file("site.wacz")
        try StoreInspector(directory: store.directory).export(to: wacz, as: .wacz)
        let archive = try ZipArchive(FileSource(wacz))
        let warc = try #require(archive["archive/data.warc.gz"])
        #expect(warc.method == .stored)
        let index = try lines(of: archive, "indexes/index.cdx.gz")
        #expect(index.count == Self.responses.count)
        #expect(index == index.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        let source = try archive.read(warc)
        for text in index {
            let line = try #require(CDXJLine(text))
            let member = source[line.offset..<line.offset + line.length]
            let one = try #require(try WARCReader(DataSource(Data(member))).next())
            #expect(one.targetURI == line.url)
            #expect(one["WARC-Payload-Digest"] == line.digest)
        }
        #expect(bytes.starts(with: [0x1F, 0x8B]))
    }

    private func lines(of archive: ZipArchive, _ path: String) throws -> [String] {
        let entry = try #require(archive[path])
        let input = try RecordInput(DataSource(archive.read(entry)))
        var lines: [String] = []
        while let line = try input.readLine(limit: 1 << 20) { lines.append(String(decoding: line, as: UTF8.self)) }
        return lines
    }

    @Test("as WACZ names every member with its size and digest, and the pages")
    func package() async throws {
        struct Package: Decodable {
            struct Resource: Decodable {
                let name, path, hash: String
                let bytes: Int
            }
            let profile, wacz_version, created, software, mainPageUrl, mainPageDate: String
            let resources: [Resource]
        }
        let store = try await filledStore()
        let file = place.file("site.wacz")
        try StoreInspector(directory: store.directory).export(to: file, as: .wacz)
        let archive = try ZipArchive(FileSource(file))
        #expect(
            archive.entries.map(\.path) == [
                "archive/data.warc.gz", "indexes/index.cdx.gz", "indexes/index.idx", "pages/pages.jsonl",
                "datapackage.json", "datapackage-digest.json",
            ]
        )
        let description = try archive.read(#require(archive["datapackage.json"]))
        let package = try JSONDecoder().decode(Package.self, from: description)
        #expect(package.profile == "data-package")
        #expect(package.wacz_version == "1.1.1")
        #expect(package.mainPageUrl == "https://shop.example/")
        #expect(package.mainPageDate == "2025-12-31T23:59:59Z")
        #expect(package.resources.map(\.path) == archive.entries.dropLast(2).map(\.path))
        for resource in package.resources {
            let bytes = try archive.read(#require(archive[resource.path]))
            #expect(resource.bytes == bytes.count)
            #expect(resource.hash == "sha256:\(MessageDigest.of(bytes).hexadecimal)")
        }
        let digest = try JSONDecoder().decode(
            [String: String].self,
            from: archive.read(#require(archive["datapackage-digest.json"]))
        )
        #expect(
            digest == ["path": "datapackage.json", "hash": "sha256:\(MessageDigest.of(description).hexadecimal)"]
        )
        let pages = try lines(of: archive, "pages/pages.jsonl")
        #expect(
            pages == [
                #"{"format": "json-pages-1.0", "id": "pages", "title": "Pages"}"#,
                #"{"id": "1", "url": "https://shop.example/", "ts": "2025-12-31T23:59:59Z"}"#,
                #"{"id": "2", "url": "https://shop.example/copy", "ts": "2025-12-31T23:59:59Z"}"#,
            ]
        )
        let places = try lines(of: archive, "indexes/index.idx")
        #expect(places.first == #"!meta 0 {"format": "cdxj-gzip-1.0", "filename": "index.cdx.gz"}"#)
        #expect(places.count == 2)
    }

    @Test("leaves out secrets in URLs and fields, as an export as HAR does", arguments: [RecordingFormat.warc, .har])
    func secrets(format: RecordingFormat) async throws {
        let store = store()
        let head = StoredHead(
            key: RequestKey(method: "GET", url: "https://shop.example/?token=sesame&a=1"),
            status: 200,
            headerFields: [.location: "https://shop.example/?token=sesame", .contentType: "text/plain"],
            vary: VaryKey([.init(name: .authorization, value: "Bearer sesame")]),
            requestTime: Self.received,
            responseTime: Self.received
        )
        let writer = try #require(store.begin(head))
        writer.append(Data("body".utf8))
        _ = try await writer.commit()
        await store.flush()
        let inspector = try StoreInspector(directory: store.directory)
        let file = place.file("secret.\(format)")
        try inspector.export(to: file, as: format)
        let text = String(decoding: try Data(contentsOf: file), as: UTF8.self)
        #expect(!text.contains("sesame"))
        #expect(text.contains("token="))
        try inspector.export(to: file, as: format, redaction: .none)
        #expect(String(decoding: try Data(contentsOf: file), as: UTF8.self).contains("sesame"))
    }

    @Test("of an empty store is a valid file", arguments: [RecordingFormat.har, .warc, .wacz])
    func empty(format: RecordingFormat) async throws {
        let store = store()
        await store.flush()
        let file = place.file("empty.\(format)")
        #expect(try StoreInspector(directory: store.directory).export(to: file, as: format) == 0)
        #expect(try await self.store().importRecording(at: file).imported.isEmpty)
    }

    @Test("a WACZ with a damaged WARC, with none, or with two is read as what it has")
    func otherWACZs() async throws {
        let store = try await filledStore()
        let (one, two) = (place.file("one.warc"), place.file("two.warc.gz"))
        let inspector = try StoreInspector(directory: store.directory)
        try inspector.export(to: one, as: .warc, scope: .url("https://shop.example/"))
        try inspector.export(to: two, as: .warc, scope: .prefix("https://shop.example/bytes"))
        func zip(_ members: [(String, Data, ZipWriter.Compression)]) throws -> Data {
            var data = Data()
            let writer = ZipWriter { data.append(contentsOf: $0) }
            for (path, bytes, compression) in members { try writer.add(path, from: bytes, compression: compression) }
            try writer.finish()
            return data
        }
        let (first, second) = (try Data(contentsOf: one), try Data(contentsOf: two))
        let both = try zip([("archive/one.warc", first, .deflated), ("archive/two.warc.gz", second, .stored)])
        let report = try await self.store().importRecording(at: place.file("both", both), options: options())
        #expect(report.imported.map(\.url).count == 3)

        let none = try place.file("none.wacz", zip([("pages/pages.jsonl", Data(), .stored)]))
        let unknown = await #expect(throws: RecordingError.self) { try await self.store().importRecording(at: none) }
        #expect(unknown?.code == .unknownFormat)
        var damaged = try zip([("archive/two.warc.gz", second, .stored)])
        damaged[100] ^= 1
        let file = try place.file("damaged.wacz", damaged)
        let error = await #expect(throws: RecordingError.self) { try await self.store().importRecording(at: file) }
        #expect(error?.code == .damagedZip)
    }
}
