import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@testable import WaystationRecording

@Suite("Bodies in files beside a HAR")
struct SeparateBodiesTests {
    private let place: Workplace

    init() throws { place = try Workplace() }

    @Test("that a recording of a test has are imported byte for byte")
    func recorded() async throws {
        // The bytes of a file are those of the response, so its type keeps the encoding that it names.
        let latin = "text/plain; charset=iso-8859-1"
        let bodies = [
            "/image.png": ("image/png", Site.image), "/app.js": ("text/javascript", Site.script),
            "/latin": (latin, Data([0x67, 0x72, 0xFC, 0x6E])),
        ]
        let network = ScriptedTransport { request in
            guard let (type, body) = bodies[request.url?.path ?? ""] else { return .status(404) }
            return .status(200, fields: ["Content-Type": type], body: body)
        }
        let file = place.file("shop.har")
        let recording = try Recording(file, .record, network: network, override: nil, now: { Date() })
        let recorded = try recording.makeSession()
        for path in bodies.keys {
            _ = try await recorded.data(from: try #require(URL(string: "https://shop.example\(path)")))
        }
        try recording.verify()
        #expect(try HARArchive(contentsOf: file).entries.allSatisfy { $0.response.content.file != nil })

        let cache = try place.cache()
        let report = try await cache.importRecording(at: file)
        #expect(report.skipped.isEmpty, "\(report.skipped)")
        let session = try offline(cache)
        for (path, (type, body)) in bodies {
            let (data, head) = try await session.data(from: try #require(URL(string: "https://shop.example\(path)")))
            #expect(data == body, "\(path)")
            #expect((head as? HTTPURLResponse)?.value(forHTTPHeaderField: "Content-Type") == type)
        }
    }

    @Test(
        "are not imported from outside of its folder, through a link, or from anything but a file",
        arguments: [
            "../secret", "sub/../../secret", "/etc/passwd", "link", "linked/body", "queue", "sub", "missing", "", ".",
            "sub/body/x", "../\u{301}secret",
        ]
    )
    func refused(path: String) async throws {
        let folder = place.file("har")
        for directory in ["har/sub", "other"] {
            try FileManager.default.createDirectory(at: place.file(directory), withIntermediateDirectories: true)
        }
        for name in ["secret", "\u{301}secret", "other/body", "har/sub/body"] {
            _ = try place.file(name, Data("body".utf8))
        }
        for (link, target) in [("link", "../secret"), ("linked", "../other")] {
            let link = folder.appending(path: link).path
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        }
        #expect(mkfifo(folder.appending(path: "queue").path, 0o600) == 0)
        let report = try await report(of: path)
        #expect(report.reasons == ["/page": "noBody"])
        #expect(try await self.report(of: "sub/body").imported.map(\.bytes) == [4])
    }

    @Test("are not imported if they are larger than the limit")
    func large() async throws {
        try FileManager.default.createDirectory(at: place.file("har"), withIntermediateDirectories: true)
        _ = try place.file("har/large", Data(count: 20_001))
        _ = try place.file("har/small", Data(count: 20_000))
        var options = ImportOptions()
        options.maximumEntrySize = .bytes(20_000)
        #expect(try await report(of: "large", options).reasons == ["/page": "tooLarge"])
        #expect(try await report(of: "small", options).imported.map(\.bytes) == [20_000])
    }

    /// The result of importing a HAR whose only body is a file.
    private func report(of path: String, _ options: ImportOptions = ImportOptions()) async throws -> ImportReport {
        var response = HARArchive.Response(status: 200)
        response.content.size = 4
        response.content.file = path
        let request = HARArchive.Request(method: "GET", url: "https://shop.example/page")
        let file = place.file("har/page.har")
        let entry = HARArchive.Entry(started: Date(), request: request, response: response)
        try HARArchive(entries: [entry]).write(to: file)
        return try await place.cache().importRecording(at: file, options: options)
    }
}
