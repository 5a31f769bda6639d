import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import Testing
import Waystation
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationRecording

@Suite("Loads recorded in a file as they end")
struct FileRecorderTests {
    private let place: Workplace
    private let site: Site

    init() throws {
        place = try Workplace()
        site = try Site(place)
    }

    private func session(_ recorder: FileRecorder) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try place.cache()
            $0.recorder = recorder
        }
        return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    @Test(
        "load offline byte for byte from another cache",
        arguments: ["session.warc", "session.warc.gz", "session.wacz", "session.har"]
    )
    func offline(name: String) async throws {
        let file = place.file(name)
        let recorder = try FileRecorder(to: file, as: #require(RecordingFormat(of: file)))
        let session = try session(recorder)
        for page in Site.pages { _ = try await session.data(from: site.origin.url(page.path)) }
        #expect(!FileManager.default.fileExists(atPath: file.path))
        // `/moved` is two exchanges.
        #expect(try await recorder.finish() == Site.pages.count + 1)
        site.origin.stop()
        let cache = try place.cache()
        let report = try await cache.importRecording(at: file)
        #expect(report.skipped.isEmpty, "\(report.skipped)")
        try await site.expectPages(in: cache)
    }

    @Test("a coded body is written decoded, with fields that are true of it")
    func codedBody() async throws {
        let file = place.file("coded.warc")
        let recorder = try FileRecorder(to: file, as: .warc)
        _ = try await session(recorder).data(from: site.origin.url("/app.js"))
        try await recorder.finish()
        let record = try #require(try responses(in: file).first)
        let message = try HTTPBlock(#require(record.block))
        #expect(message.content == Site.script)
        #expect(message.fields[.contentEncoding] == nil)
        // That of the server would stay; Waystation's own is not part of its response.
        #expect(!message.fields.contains { $0.name.canonicalName == "cache-status" })
        #expect(message.fields[.contentLength] == "\(Site.script.count)")
        // The strong tag of the coded bytes is not that of these.
        #expect(message.fields[.eTag] == "W/\"packed\"")
        #expect(record.date.map { abs($0.timeIntervalSinceNow) < 600 } ?? false)
    }

    @Test("a body beyond the limit is marked as cut, and not imported")
    func cut() async throws {
        let file = place.file("cut.wacz")
        let recorder = try FileRecorder(to: file, as: .wacz, maximumBodySize: .bytes(1_000))
        _ = try await session(recorder).data(from: site.origin.url("/image.png"))
        #expect(try await recorder.finish() == 1)
        let report = try await place.cache().importRecording(at: file)
        #expect(report.reasons == ["/image.png": "incomplete"])
    }

    @Test("a load that fails in its body is marked as cut off, and one without a response is no record")
    func failed() async throws {
        let origin = try ScriptedOrigin { request in
            request.path == "/" ? .truncated(Data("all of it".utf8), after: 4) : .closed
        }
        let file = place.file("failed.warc")
        let recorder = try FileRecorder(to: file, as: .warc)
        let session = try session(recorder)
        for path in ["/", "/nothing"] {
            await #expect(throws: URLError.self) { _ = try await session.data(from: origin.url(path)) }
        }
        try await recorder.finish()
        let records = try responses(in: file)
        #expect(records.allSatisfy { $0["WARC-Truncated"] == "disconnect" })
        #expect(records.count <= 1)
    }

    @Test(
        "bodies that wait are in memory up to the limit, and beyond it in a file without a name",
        arguments: [1, 100]
    )
    func waiting(count: Int) async throws {
        let file = place.file("waiting.warc")
        let recorder = try FileRecorder(to: file, as: .warc)
        let bodies = (0..<count).map { Data.random(1 << 20, seed: UInt64($0 + 1)) }
        for (index, body) in bodies.enumerated() {
            let url = try #require(URL(string: "http://shop.example/\(index)"))
            let response = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: [:])
            let exchange = RecordedExchange(
                request: URLRequest(url: url),
                response: response,
                body: body,
                source: .network,
                begun: Date()
            )
            recorder.exchangeDidEnd(exchange)
        }
        #expect(try await recorder.finish() == count)
        let records = try responses(in: file)
        #expect(records.count == count)
        for (record, body) in zip(records, bodies) { #expect(record.block?.suffix(body.count) == body) }
        let files = try FileManager.default.contentsOfDirectory(atPath: place.folder.path)
        #expect(!files.contains { $0.hasPrefix(".") })
    }

    @Test("a recorder that is not finished leaves no file, and neither does one that cannot write")
    func unfinished() async throws {
        let file = place.file("unfinished.wacz")
        do {
            let recorder = try FileRecorder(to: file, as: .wacz)
            _ = try await session(recorder).data(from: site.origin.url("/"))
        }
        let error = #expect(throws: RecordingError.self) {
            try FileRecorder(to: place.file("missing").appending(path: "a.warc"), as: .warc)
        }
        #expect(error?.code == .unwritable)
        #expect(error?.message.contains("folder") ?? false)
    }

    @Test("exchanges that end after the file is finished are not written")
    func late() async throws {
        let file = place.file("late.warc")
        let recorder = try FileRecorder(to: file, as: .warc)
        let session = try session(recorder)
        _ = try await session.data(from: site.origin.url("/"))
        #expect(try await recorder.finish() == 1)
        _ = try await session.data(from: site.origin.url("/empty"))
        #expect(try await recorder.finish() == 1)
        #expect(try responses(in: file).count == 1)
    }

    private func responses(in file: URL) throws -> [WARCRecord] {
        let reader = try WARCReader(contentsOf: file)
        var records: [WARCRecord] = []
        while let record = try reader.next() { if record.type == "response" { records.append(record) } }
        return records
    }
}
