import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationStorage
import WaystationTestSupport

@testable import WaystationRecording

@Suite("A WARC is imported as programs write it")
struct WARCImportTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    static let page = "<html>hello world, this is a page</html>"
    private static let good = record("good", block: "HTTP/1.1 200 OK\r\n\r\ngood")
    private static let digest = "67KNKHPOSY2YTJTZFYTPJ6AJULY4AKRP"

    /// A day before or after today, as WARC writes it.
    private static func day(_ number: Int) -> String {
        Timestamp.text(start.addingTimeInterval(Double(number) * 86_400))
    }

    private static let start = Date()

    static func record(
        _ path: String,
        _ type: String = "response",
        date: String = day(-5),
        fields: [String] = [],
        version: String = "1.0",
        block: Data,
        end: String = "\r\n\r\n"
    ) -> Data {
        let lines =
            [
                "WARC/\(version)", "WARC-Type: \(type)", "WARC-Record-ID: <urn:\(path)>", "WARC-Date: \(date)",
                "WARC-Target-URI: http://shop.example/\(path)",
            ] + fields + ["Content-Length: \(block.count)", "", ""]
        return Data(lines.joined(separator: "\r\n").utf8) + block + Data(end.utf8)
    }

    static func record(
        _ path: String,
        _ type: String = "response",
        date: String = day(-5),
        fields: [String] = [],
        version: String = "1.0",
        block: String,
        end: String = "\r\n\r\n"
    ) -> Data {
        record(path, type, date: date, fields: fields, version: version, block: Data(block.utf8), end: end)
    }

    /// The report of an import, and the bodies that are stored, by the paths of their URLs.
    private func imported(
        _ records: Data,
        name: String = "file.warc"
    ) async throws -> (report: ImportReport, bodies: [String: Data]) {
        let cache = try place.cache()
        let report = try await cache.importRecording(at: place.file(name, records))
        var bodies: [String: Data] = [:]
        for imported in report.imported {
            let rows = await cache.store.lookup(RequestKey(method: "GET", url: imported.url, partition: ""))
            bodies[String(imported.url.dropFirst("http://shop.example/".count))] = try rows.first?.body.contents()
        }
        return (report, bodies)
    }

    /// The fields of a response and its body as it was recorded, and the body that is stored.
    static let bodies: [(fields: [String], recorded: Data, stored: Data)] = {
        let text = Data(page.utf8)
        let chunked = Data("28\r\n\(page)\r\n0\r\n\r\n".utf8)
        let png = Data([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0xFF, 0, 7])
        return [
            // The length of the coded body, whose coding was removed.
            (["Content-Length: 7"], text, text), (["Content-Length: 40"], text, text),
            (["Content-Length: 60", "Content-Encoding: gzip"], text, text),
            (["Transfer-Encoding: chunked"], chunked, text), (["Transfer-Encoding: chunked"], text, text),
            (["Transfer-Encoding: Chunked", "Transfer-Encoding: chunked"], chunked, text),
            (["Transfer-Encoding: chunked, chunked"], chunked, text),
            (["Transfer-Encoding: chunked"], Data("  28  \r\n\(page)\r\n0\r\n\r\n".utf8), text),
            (["Transfer-Encoding: chunked"], Data("\t28 ; x=y\r\n\(page)\r\n0;z\r\nT: t\r\n\r\n".utf8), text),
            (["Transfer-Encoding: chunked"], Data("{\"id\": 1}".utf8), Data("{\"id\": 1}".utf8)),
            (["Transfer-Encoding: chunked"], Data("10\nother lines\n".utf8), Data("10\nother lines\n".utf8)),
            (["Transfer-Encoding: chunked"], Data("0\n".utf8), Data("0\n".utf8)),
            (["Transfer-Encoding: chunked"], Data("cafe society\n".utf8), Data("cafe society\n".utf8)),
            (["Transfer-Encoding: chunked"], Data("0\r\n\r\n".utf8), Data()),
            (["Transfer-Encoding: chunked"], png, png),
            (["Content-Encoding: UTF-8"], text, text), (["Content-Encoding: text/html"], text, text),
            (["Content-Encoding: identity, none"], text, text), (["Content-Encoding: utf-8, gzip"], text, text),
            (["Content-Encoding: gzip"], text, text), (["Content-Encoding: deflate"], text, text),
            (["Content-Encoding: br"], text, text), (["Content-Encoding: zstd"], text, text),
            (["Content-Encoding: br"], png, png), (["Content-Encoding: gzip, br"], text, text),
            (["Content-Encoding: gzip"], EncodedBodies.textGzip, EncodedBodies.text),
            (["Content-Encoding: GZIP"], EncodedBodies.textGzip + Data([0]), EncodedBodies.text),
            (
                ["Content-Encoding: x-gzip"], EncodedBodies.textGzip + EncodedBodies.textGzip,
                EncodedBodies.text + EncodedBodies.text
            ),
            (["Content-Encoding: deflate"], EncodedBodies.textDeflate, EncodedBodies.text),
            (["Content-Encoding: deflate"], EncodedBodies.textRawDeflate, EncodedBodies.text),
            (["Content-Encoding: br"], EncodedBodies.textBrotli, EncodedBodies.text),
            (["Content-Encoding: zstd"], EncodedBodies.textZstandard, EncodedBodies.text),
            (["Content-Encoding: gzip, br"], EncodedBodies.textGzipThenBrotli, EncodedBodies.text),
            (["Content-Encoding: gzip", "Content-Encoding: br"], EncodedBodies.textGzipThenBrotli, EncodedBodies.text),
            // The outer coding was removed.
            (["Content-Encoding: gzip, br"], EncodedBodies.textBrotli, EncodedBodies.text),
        ]
    }()

    @Test("whose bodies are read as they are, whatever their fields say", arguments: 0..<bodies.count)
    func body(index: Int) async throws {
        let (fields, recorded, stored) = Self.bodies[index]
        let head = (["HTTP/1.1 200 OK"] + fields + ["", ""]).joined(separator: "\r\n")
        let (report, bodies) = try await imported(Self.record("page", block: Data(head.utf8) + recorded) + Self.good)
        #expect(bodies["page"] == stored, "\(fields): \(report.skipped)")
        #expect(bodies["good"] == Data("good".utf8))
        #expect(report.warnings.isEmpty)
    }

    @Test("but not if a body is cut off or damaged")
    func cutBodies() async throws {
        let cut: [(fields: String, body: Data, reason: String)] = [
            ("Content-Length: 99", Data(Self.page.utf8), "incomplete"), ("Content-Length: 1", Data(), "incomplete"),
            ("Content-Length: 999\r\nContent-Encoding: gzip", EncodedBodies.textGzip, "incomplete"),
            ("Transfer-Encoding: chunked", Data("28\r\n\(Self.page)\r\n".utf8), "incomplete"),
            ("Transfer-Encoding: chunked", Data("29\r\n\(Self.page)\r\n0\r\n\r\n".utf8), "damagedBody"),
            ("Content-Encoding: gzip", EncodedBodies.textGzip.dropLast(9), "damagedBody"),
            ("Content-Encoding: br", EncodedBodies.patternBrotli.dropLast(9), "damagedBody"),
            ("Content-Encoding: zstd", EncodedBodies.textZstandard.dropLast(9), "damagedBody"),
        ]
        for (fields, body, reason) in cut {
            let block = Data("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n".utf8) + body
            let (report, bodies) = try await imported(Self.record("page", block: block) + Self.good)
            #expect(report.skipped.map(\.reason.description) == [reason], "\(fields)")
            #expect(report.skipped.first?.place == ImportReport.Place(number: 1, offset: 0))
            #expect(bodies.keys.sorted() == ["good"])
        }
        for field in ["WARC-Truncated: length", "WARC-Segment-Number: 1"] {
            let block = "HTTP/1.1 200 OK\r\n\r\n\(Self.page)"
            let (report, _) = try await imported(Self.record("page", fields: [field], block: block) + Self.good)
            #expect(report.skipped.map(\.reason) == [.incomplete])
        }
    }

    @Test("in every version of the format", arguments: ["0.17", "0.18", "1.0", "1.1"])
    func version(version: String) async throws {
        let block = "HTTP/1.1 200 OK\r\n\r\n\(Self.page)"
        let (_, bodies) = try await imported(Self.record("page", version: version, block: block) + Self.good)
        #expect(bodies.count == 2)
    }

    /// The bytes after a record, and the warning about them.
    static let ends: [(end: String, warning: String?)] = [
        ("\r\n", "one line end follows the record, not two"), ("\n", "one line end follows the record, not two"),
        ("", "no line end follows the record"), ("\n\n", nil), ("\r\n\n", nil), ("\r\n\r\n\r\n\n", nil),
        ("\r\n\r\n\0\0\0\r\n", "zeros are between the records; they are skipped"),
    ]

    @Test("with missing line ends and padding, which are warnings that name the byte", arguments: ends)
    func end(end: String, warning: String?) async throws {
        let block = "HTTP/1.1 200 OK\r\n\r\n\(Self.page)"
        let first = Self.record("page", block: block, end: end)
        let (report, bodies) = try await imported(Self.good + first + Self.record("last", block: block))
        #expect(bodies.count == 3)
        let start = warning?.hasPrefix("zeros") == true ? first.count - 5 : 0
        let expected = warning.map { ImportReport.Warning(offset: Self.good.count + start, detail: $0) }
        #expect(report.warnings == [expected].compactMap(\.self))
        #expect(try await imported(first).report.imported.count == 1)
    }

    @Test("compressed by gzip, in one member or in many, with padding")
    func gzip() async throws {
        let block = "HTTP/1.1 200 OK\r\n\r\n\(Self.page)"
        let page = Self.record("page", block: block)
        let members = try place.gzipped(page) + place.gzipped(Self.good)
        for data in [members, try place.gzipped(page + Self.good)] {
            let (report, bodies) = try await imported(data)
            #expect(bodies.count == 2)
            #expect(report.warnings.isEmpty)
        }
        let padded = try place.gzipped(page) + Data(count: 300_000) + place.gzipped(Self.good) + Data(count: 9)
        let (report, bodies) = try await imported(padded)
        #expect(bodies.count == 2)
        let start = try place.gzipped(page).count
        #expect(
            report.warnings.map(\.description)
                == [start, padded.count - 9].map {
                    "padding follows the compressed data, from byte \($0) of the file on; it is skipped"
                }
        )
        let file = try place.file("junk.warc.gz", members + Data("junk".utf8))
        let error = await #expect(throws: RecordingError.self) { try await place.cache().importRecording(at: file) }
        #expect(error?.code == .damagedCompression)
    }

    /// The two records of `zstd`, made by python-zstandard: frames of their own, and with a dictionary, plain and compressed.
    @Test("compressed by Zstandard, also with a dictionary", arguments: ZstandardFiles.all)
    func zstandard(name: String, file: Data) async throws {
        let (report, bodies) = try await imported(file, name: "file.warc.zst")
        #expect(bodies["page"] == Data((Self.page + "\n").utf8), "\(name): \(report.skipped)")
        #expect(bodies["good"] == Data("good\n".utf8))
    }

    private static let original = record(
        "one",
        fields: ["WARC-Payload-Digest: sha1:\(digest)"],
        block: "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: \"1\"\r\n\r\n\(page)"
    )

    private static func revisit(_ fields: [String], at path: String = "two", block: String? = nil) -> Data {
        let head = block ?? "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
        let profile = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
        let hasProfile = fields.contains { $0.hasPrefix("WARC-Profile") }
        return record(
            path,
            "revisit",
            date: day(-4),
            fields: fields + (hasProfile ? [] : [profile]),
            version: "1.1",
            block: head
        )
    }

    static let references: [[String]] = {
        let target = "WARC-Refers-To-Target-URI: http://shop.example/one"
        let date = "WARC-Refers-To-Date: \(day(-5))"
        let hexadecimal = MessageDigest.of(Data(page.utf8), .sha1).hexadecimal
        return [
            ["WARC-Payload-Digest: sha1:\(digest)"], ["WARC-Payload-Digest: SHA1:\(digest.lowercased())"],
            ["WARC-Payload-Digest: sha-1:\(hexadecimal)"], ["WARC-Payload-Digest: sha1:\(hexadecimal.uppercased())"],
            ["WARC-Payload-Digest: \(digest)"], [target, date],
            ["WARC-Refers-To-Target-URI: <http://SHOP.example:80/one>", date.replacing("Z", with: "000Z")],
            ["WARC-Refers-To: <urn:one>"], ["WARC-Payload-Digest: sha1:\(digest)", target, date], [target],
            [
                "WARC-Payload-Digest: sha1:\(digest)",
                "WARC-Profile: http://netpreserve.org/warc/1.0/revisit/uri-agnostic-identical-payload-digest",
            ],
        ]
    }()

    @Test(
        "with revisit records that refer to others in any form and order",
        arguments: 0..<references.count,
        [true, false]
    )
    func revisits(index: Int, isFirst: Bool) async throws {
        let fields = Self.references[index]
        for block in [nil, ""] {
            let revisit = Self.revisit(fields, block: block)
            let original = Self.original
            let (report, bodies) = try await imported(isFirst ? revisit + original : original + revisit)
            #expect(bodies["two"] == Data(Self.page.utf8), "\(fields): \(report.skipped)")
            #expect(report.skipped.isEmpty)
        }
    }

    @Test("with digests that are not stated in the record that has the body")
    func unstatedDigests() async throws {
        let body = Data(Self.page.utf8)
        let response = Self.record("one", block: "HTTP/1.1 200 OK\r\n\r\n\(Self.page)")
        for digest in [
            "sha1:\(Self.digest)", "sha256:" + MessageDigest.of(body).hexadecimal,
            "md5:" + MessageDigest.of(body, .md5).hexadecimal,
        ] {
            let (_, bodies) = try await imported(Self.revisit(["WARC-Payload-Digest: \(digest)"]) + response)
            #expect(bodies["two"] == body)
        }
    }

    @Test("with revisits of revisits, of captures that a newer one replaced, and of no-store responses")
    func chains() async throws {
        let digest = "WARC-Payload-Digest: sha1:\(Self.digest)"
        let newer = Self.record("one", date: Self.day(-3), block: "HTTP/1.1 200 OK\r\n\r\nnewer")
        let (report, bodies) = try await imported(
            Self.revisit(["WARC-Refers-To: <urn:two>"], at: "three") + Self.revisit([digest]) + newer + Self.original
        )
        #expect(bodies == ["one": Data("newer".utf8), "two": Data(Self.page.utf8), "three": Data(Self.page.utf8)])
        #expect(report.skipped.map(\.reason) == [.older])
        let secret = Self.record(
            "one",
            fields: [digest],
            block: "HTTP/1.1 200 OK\r\nCache-Control: no-store\r\n\r\n\(Self.page)"
        )
        let kept = try await imported(secret + Self.revisit([digest]))
        #expect(kept.bodies == ["two": Data(Self.page.utf8)])
        #expect(kept.report.skipped.map(\.reason) == [.noStore])
    }

    @Test("with revisits of a server that answered 304, which have the status and the fields of the response")
    func notModified() async throws {
        let profile = "WARC-Profile: http://netpreserve.org/warc/1.1/revisit/server-not-modified"
        let block = "HTTP/1.1 304 Not Modified\r\nCache-Control: max-age=9\r\nContent-Length: 0\r\n\r\n"
        for fields in [[profile], [profile, "WARC-Refers-To: <urn:one>"]] {
            let cache = try place.cache()
            let file = try place.file("304.warc", Self.original + Self.revisit(fields, at: "one", block: block))
            var options = ImportOptions()
            options.time = .now
            let report = try await cache.importRecording(at: file, options: options)
            #expect(report.imported.map(\.bytes) == [40, 40], "\(report.skipped)")
            let url = try #require(URL(string: "http://shop.example/one"))
            let (body, response) = try await offline(cache).data(from: url)
            #expect(body == Data(Self.page.utf8))
            let head = try #require(response as? HTTPURLResponse)
            #expect(head.statusCode == 200)
            #expect(head.value(forHTTPHeaderField: "Content-Type") == "text/html")
            #expect(head.value(forHTTPHeaderField: "Cache-Control") == "max-age=9")
        }
    }

    @Test("but a revisit never gets the body of another digest")
    func otherDigest() async throws {
        let other = "WARC-Payload-Digest: sha1:" + String(repeating: "A", count: 32)
        for fields in [[other], [other, "WARC-Refers-To: <urn:one>"]] {
            let (report, bodies) = try await imported(Self.original + Self.revisit(fields))
            #expect(bodies.keys.sorted() == ["one"])
            #expect(report.skipped.map(\.reason) == [.revisit])
            #expect(report.skipped.first?.place.number == 2)
        }
    }

    @Test("and the newest capture of a URL stays, whatever the order", arguments: [false, true])
    func captures(isNewerFirst: Bool) async throws {
        let captures = [(-5, "older"), (-3, "newer")].map { date, body in
            Self.record("page", date: Self.day(date), block: "HTTP/1.1 200 OK\r\n\r\n\(body)")
        }
        let (report, bodies) = try await imported((isNewerFirst ? captures.reversed() : captures).reduce(Data(), +))
        #expect(bodies == ["page": Data("newer".utf8)])
        #expect(report.skipped.map(\.reason) == (isNewerFirst ? [.older] : []))
    }

    @Test("with records of other kinds, which describe others and are not stored")
    func otherRecords() async throws {
        let records = ["metadata", "warcinfo", "conversion", "x-own"].map { Self.record("page", $0, block: "a: b\r\n") }
        let resource = Self.record("css", "resource", fields: ["Content-Type: text/css"], block: "p{}")
        let (report, bodies) = try await imported(records.reduce(Data(), +) + resource + Self.good)
        #expect(bodies == ["css": Data("p{}".utf8), "good": Data("good".utf8)])
        #expect(report.skipped.isEmpty)
        let name = Data("http://shop.example/page".utf8)
        var dns = Self.record("page", block: "20261120\nshop.example. A 192.0.2.1\n")
        let range = try #require(dns.firstRange(of: name))
        dns.replaceSubrange(range, with: Data("dns:shop.example".utf8))
        #expect(try await imported(dns + Self.good).report.skipped.map(\.reason) == [.url])
    }

    @Test("with an interim response before the final one in the same block")
    func interim() async throws {
        let block =
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nbody"
        #expect(try await imported(Self.record("page", block: block)).bodies == ["page": Data("body".utf8)])
    }
}
