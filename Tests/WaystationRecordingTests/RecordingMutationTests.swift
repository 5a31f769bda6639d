import Foundation
import Testing
import Waystation
import WaystationStorage
import WaystationTestSupport

@testable import WaystationRecording

/// Damaged recordings that follow from a seed.
///
/// The environment variable `WAYSTATION_RECORDING_MUTATIONS` sets another number of rounds for each of the four parts: a
/// million takes some ten minutes in a release build.
@Suite("Mutated recordings")
struct RecordingMutationTests {
    private static let rounds =
        ProcessInfo.processInfo.environment["WAYSTATION_RECORDING_MUTATIONS"].flatMap(Int.init) ?? 400

    private let place: Workplace

    init() throws { place = try Workplace() }

    private static let hars: [Data] = [
        #"""
        {"log":{"version":"1.2","creator":{"name":"x","version":"1"},"pages":[{"a":"]}\\\""}],"entries":[
        {"startedDateTime":"2026-11-20T09:30:00.000Z","time":1e3,"request":{"method":"GET","url":"https://shop.example/a?b[]=%","headers":[{"name":"Accept","value":"a\nb"}]},
        "response":{"status":200,"headers":[{"name":"Content-Length","value":"5"},{"name":"Vary","value":["Accept"]}],"content":{"size":5,"mimeType":"text/html","text":"h\u00e4l\ud83d\ude00"}}},
        {"request":{"method":"GET","url":"https://shop.example/b"},"response":{"status":200,"content":{"size":3,"text":"AP8A","encoding":"base64"}}},
        {"request":{"method":"GET","url":"https://shop.example/c"},"response":{"status":200,"headers":[{"name":"Content-Encoding","value":"gzip"}],
        "content":{"_isBinary":true,"text":"[\"1f8b08\",\"0000\"]"}}},null,{"request":null}]}}
        """#
    ].map { Data($0.utf8) }

    private static var warcs: [Data] {
        let digest = "WARC-Payload-Digest: sha1:67KNKHPOSY2YTJTZFYTPJ6AJULY4AKRP"
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
        let page = WARCImportTests.page
        return [
            WARCImportTests.record("two", "revisit", fields: [digest], block: head + "\r\n")
                + WARCImportTests.record("one", fields: [digest], block: "\(head)Content-Length: 40\r\n\r\n\(page)")
                + WARCImportTests.record(
                    "css",
                    "resource",
                    fields: ["Content-Type: text/css"],
                    block: "p{}",
                    end: "\r\n"
                ),
            WARCImportTests.record(
                "chunked",
                block: "\(head)Transfer-Encoding: chunked\r\n\r\n5;a=b\r\nhello\r\n6\r\n world\r\n0\r\nT: t\r\n\r\n"
            )
                + WARCImportTests.record(
                    "packed",
                    block: Data("\(head)Content-Encoding: gzip, br\r\n\r\n".utf8) + EncodedBodies.textGzipThenBrotli
                )
                + WARCImportTests.record(
                    "zstd",
                    version: "0.18",
                    block: Data("\(head)Content-Encoding: zstd\r\n\r\n".utf8) + EncodedBodies.textZstandard
                )
                + WARCImportTests.record("x", "request", block: "GET /x HTTP/1.1\r\nHost: shop.example\r\n\r\n"),
        ]
    }

    /// The texts that replace bytes of a recording: parts of the formats, and characters that end a value or a line.
    private static let words =
        [
            "\r\n", "\n", "\r\n\r\n", "\0", "\"", "\\", "\\u", "\\ud800", "{", "}", "[", "]", ",", ":", "null", "1e999",
            "-1",
            "NaN", "WARC/1.1\r\n", "WARC-Type: revisit\r\n", "Content-Length: 9999999999\r\n", "HTTP/1.1 304 x\r\n\r\n",
            "0\r\n\r\n", "ffffffffffffff\r\n", "\u{FEFF}", "Transfer-Encoding: chunked\r\n",
            "Content-Encoding: deflate\r\n",
        ].map { Array($0.utf8) } + [
            [0x1F, 0x8B], [0x28, 0xB5, 0x2F, 0xFD], [0x5D, 0x2A, 0x4D, 0x18], [0xFF], [0xC3],
        ]

    private static func mutated(_ good: Data, using random: inout SeededGenerator) -> Data {
        var bytes = Array(good)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            guard !bytes.isEmpty else { break }
            let start = Int.random(in: bytes.indices, using: &random)
            let end = min(bytes.count, start + Int.random(in: 0...20, using: &random))
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[start] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.removeSubrange(start..<end)
            case 2: bytes.insert(contentsOf: bytes[start..<end], at: Int.random(in: bytes.indices, using: &random))
            case 3: bytes.replaceSubrange(start..<end, with: words.randomElement(using: &random) ?? [])
            case 4: bytes.insert(contentsOf: words.randomElement(using: &random) ?? [], at: start)
            default: bytes.removeSubrange((Int.random(in: 0..<4, using: &random) == 0 ? start : end)...)
            }
        }
        return Data(bytes)
    }

    /// Imports a file as `importRecording` does, from memory.
    private func imported(_ file: Data, into store: ResponseStore) async throws -> ImportReport? {
        var options = ImportOptions()
        options.time = .now
        var recording = RecordingImport(store, options)
        let source = DataSource(file)
        do {
            let beginning = try RecordInput(source).peek(512)
            if beginning.contains(UInt8(ascii: "{")), !beginning.starts(with: "WARC".utf8) {
                try await recording.take(try HARReader(source), in: place.folder)
            } else {
                var records = try WARCImport([source], options.warc)
                try await records.run([source], into: &recording)
            }
        } catch let error as RecordingError {
            #expect(error.message.unicodeScalars.allSatisfy { !$0.isHidden })
            return nil
        }
        return recording.report
    }

    @Test("give entries, records or a named error", arguments: 0..<4)
    func mutations(part: Int) async throws {
        var random = SeededGenerator(seed: UInt64(part) + 44)
        let store = ResponseStore(directory: place.file("http"))
        let plain = part < 2 ? Self.hars : Self.warcs
        let goods =
            try part.isMultiple(of: 2) ? plain : plain.map { try place.gzipped($0) } + ZstandardFiles.all.map(\.file)
        for good in goods { #expect(try await imported(good, into: store)?.imported.isEmpty == false) }
        for round in 0..<Self.rounds {
            let file = Self.mutated(goods[round % goods.count], using: &random)
            guard let report = try await imported(file, into: store) else { continue }
            for skipped in report.skipped {
                #expect(skipped.detail.unicodeScalars.allSatisfy { !$0.isHidden })
                #expect(skipped.detail.utf8.count < 5_000)
            }
        }
    }
}
