import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationOrigin
import WaystationProcesses
import WaystationRecording
import WaystationStorage

@Suite("A site recorded by wget")
struct WgetImportTests {
    private let place: Workplace
    private let site: Site
    /// The address of wget's records about itself, which is not a web address.
    private static let arguments = "/software/wget/warc/wget_arguments.txt"

    init() throws {
        place = try Workplace()
        site = try Site(place)
    }

    /// Records the site with Debian's wget.
    private func record(compressed: Bool) throws -> URL {
        let paths = ["/", "/image.png", "/app.js", "/chunked", "/empty", "/moved", "/gone", "/private"]
        let options =
            (compressed ? [] : ["--no-warc-compression"]) + [
                "--warc-file=site", "--no-warc-keep-log", "--tries=1", "--output-document=/dev/null",
                "--header=Accept-Encoding: gzip",
            ]
        let outcome = try SpawnedProcess.run(
            "/usr/bin/wget",
            options + paths.map { site.origin.url($0).absoluteString },
            in: place.folder,
            limit: 60
        )
        // 8: the server answered one of the URLs with an error, as intended.
        try #require(outcome.ending == .exited(8), "\(String(decoding: outcome.errors, as: UTF8.self))")
        return place.file(compressed ? "site.warc.gz" : "site.warc")
    }

    @Test("loads offline byte for byte", arguments: [true, false])
    func offline(compressed: Bool) async throws {
        let file = try record(compressed: compressed)
        site.origin.stop()
        #expect(try Data(contentsOf: file).starts(with: compressed ? [0x1F, 0x8B] : Array("WARC/1.0".utf8)))
        let cache = try place.cache()
        let report = try await cache.importRecording(at: file)
        #expect(report.reasons == ["/gone": "status", "/private": "noStore", Self.arguments: "url"])
        #expect(Set(report.imported.map(\.url)).count == 6)
        for strategy in [CacheStrategy.cacheOnly, .standard, .cacheFirst(for: .days(1)), .networkFirst()] {
            try await site.expectPages(in: cache, strategy)
        }
        var request = URLRequest(url: site.origin.url("/image.png"))
        request.cachePolicy = .returnCacheDataDontLoad
        let (image, _) = try await WaystationRecordingTests.offline(cache, .standard).data(for: request)
        #expect(image == Site.image)
    }

    @Test("responses with no-store are imported if the caller allows it")
    func noStore() async throws {
        let file = try record(compressed: true)
        let cache = try place.cache()
        var options = ImportOptions()
        options.includesNoStore = true
        let report = try await cache.importRecording(at: file, options: options)
        #expect(report.reasons == ["/gone": "status", Self.arguments: "url"])
        let (data, _) = try await WaystationRecordingTests.offline(cache).data(from: site.origin.url("/private"))
        #expect(String(decoding: data, as: UTF8.self) == "mine")
    }

    @Test("a damaged byte of a body is found by the digest")
    func digest() async throws {
        let file = try record(compressed: false)
        var bytes = try Data(contentsOf: file)
        let found = try #require(bytes.range(of: Data("part 7 of many".utf8)))
        bytes[found.lowerBound] = UInt8(ascii: "P")
        let report = try await place.cache().importRecording(at: place.file("damaged.warc", bytes))
        #expect(report.reasons["/chunked"] == "damagedBody")
    }

    @Test("a record larger than the limit is skipped, and the rest is read")
    func largeRecord() async throws {
        let file = try record(compressed: true)
        var options = ImportOptions()
        options.warc.maximumBlockSize = .kibibytes(100)
        let report = try await place.cache().importRecording(at: file, options: options)
        #expect(report.reasons["/image.png"] == "tooLarge")
        #expect(report.imported.count == 4 || report.imported.count == 5)
    }

    @Test("the pages before the damage of a file that was cut load offline", arguments: [true, false])
    func cutImport(compressed: Bool) async throws {
        let bytes = try Data(contentsOf: record(compressed: compressed))
        let cache = try place.cache()
        let file = try place.file("cut.warc", bytes.dropLast(9))
        let error = await #expect(throws: RecordingError.self) { try await cache.importRecording(at: file) }
        #expect(error?.code == .truncated)
        try await site.expectPages(in: cache)
    }

    @Test("a file cut at any place gives a named error, or records", arguments: [true, false])
    func cut(compressed: Bool) throws {
        let bytes = try Data(contentsOf: record(compressed: compressed))
        var codes: Set<String> = []
        for length in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 400)) {
            let reader = try WARCReader(DataSource(bytes.prefix(length)))
            do {
                while try reader.next() != nil {}
            } catch {
                codes.insert(error.code.description)
            }
        }
        #expect(codes.contains("truncated"))
        #expect(codes.isSubset(of: ["truncated", "invalidVersion"]))
    }
}
