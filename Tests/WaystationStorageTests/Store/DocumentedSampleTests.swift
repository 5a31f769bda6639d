import Foundation
import HTTPTypes
import Testing
import WaystationProcesses
import WaystationTestSupport

@testable import WaystationStorage

@Suite("The sample in Docs/FileFormats.md")
struct DocumentedSampleTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    /// A query as typed into the `sqlite3` shell, and its output.
    private struct Exchange: Equatable {
        var query: String
        var answer: [String] = []
    }

    @Test("is the output of Debian's sqlite3, query by query")
    func transcript() async throws {
        try await fill()
        let documented = try Self.documented()
        try #require(documented.count >= 7)
        for exchange in documented {
            // A store that is being closed may lock its index for a moment.
            let arguments = ["-readonly", "-cmd", ".timeout 60000", fixture.layout.index, exchange.query]
            let outcome = try SpawnedProcess.run("/usr/bin/sqlite3", arguments)
            let text = String(decoding: outcome.output, as: UTF8.self).replacing("\r\n", with: "\n")
            #expect(outcome.ending == .exited(0), "\(String(decoding: outcome.errors, as: UTF8.self))")
            #expect(Self.lines(text) == exchange.answer, "\(exchange.query)")
        }
    }

    @Test("names the files that exist")
    func files() async throws {
        try await fill()
        let text = try Self.section()
        for file in fixture.files(in: "bodies") { #expect(text.contains("-rw-------  2097152 bodies/\(file)\n")) }
        #expect(fixture.files(in: "bodies").count == 1)
    }

    @Test("passes SQLite's own integrity check")
    func integrity() async throws {
        try await fill()
        let outcome = try SpawnedProcess.run(
            "/usr/bin/sqlite3",
            ["-readonly", "-cmd", ".timeout 60000", fixture.layout.index, "PRAGMA integrity_check"]
        )
        #expect(String(decoding: outcome.output, as: UTF8.self) == "ok\n")
    }

    /// Stores the responses that the sample shows.
    private func fill() async throws {
        let store = ResponseStore(directory: fixture.directory)
        let page = Data("<!doctype html><title>Shop</title>".utf8)
        let film = Data.random(2_097_152)
        // The spelling that Foundation, and so the store, uses.
        let etag = try #require(HTTPField.Name("Etag"))
        var html: HTTPFields = [
            .contentType: "text/html; charset=utf-8", .date: "Fri, 20 Nov 2026 09:30:00 GMT",
        ]
        html.append(HTTPField(name: etag, value: "\"v7\""))
        var varied = html
        varied[.vary] = "Accept-Language, X-Shop"
        let shop = try #require(HTTPField.Name("X-Shop"))
        let vary = VaryKey([.init(name: .acceptLanguage, value: "de"), .init(name: shop, value: nil)])
        let responses: [(RequestKey, HTTPFields, VaryKey, Data)] = [
            (.get("app/"), html, .none, page),
            (.get("app/prices", partition: "bffde20413347b7a00e1363de3f97ca6"), varied, vary, page),
            (.get("app/film.mp4"), [.contentType: "video/mp4"], .none, film),
            (
                RequestKey(method: "GET", url: "https://cdn.example/film.mp4"), [.contentType: "video/mp4"], .none, film
            ),
        ]
        for (number, (key, fields, vary, body)) in responses.enumerated() {
            let time = Date(timeIntervalSince1970: 1_795_167_000 + Double(number))
            let entry = StoredHead(
                key: key,
                status: 200,
                headerFields: fields,
                vary: vary,
                requestTime: time,
                responseTime: time
            )
            let writer = try #require(store.begin(entry))
            writer.append(body)
            try await writer.commit()
        }
        await store.flush()
    }

    private static func section() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..").standardizedFileURL
        let text = try String(contentsOf: root.appending(path: "Docs/FileFormats.md"), encoding: .utf8)
        let end = try #require(text.range(of: "\n## Packs\n"))
        return String(text[..<end.lowerBound])
    }

    private static func documented() throws -> [Exchange] {
        var exchanges: [Exchange] = []
        var isTranscript = false
        for line in try section().components(separatedBy: "\n") {
            if line.hasPrefix("$ sqlite3 -readonly index.sqlite") {
                isTranscript = true
            } else if line == "```" {
                isTranscript = false
            } else if isTranscript, line.hasPrefix("sqlite> ") {
                exchanges.append(Exchange(query: String(line.dropFirst(8))))
            } else if isTranscript, line.hasPrefix("   ...> "), !exchanges.isEmpty {
                exchanges[exchanges.count - 1].query += "\n" + line.dropFirst(8)
            } else if isTranscript, !exchanges.isEmpty {
                exchanges[exchanges.count - 1].answer.append(line)
            }
        }
        return exchanges
    }

    /// The lines of an output, without the newline at its end.
    private static func lines(_ text: String) -> [String] {
        var lines = text.components(separatedBy: "\n")
        if lines.last == "" { lines.removeLast() }
        return lines
    }
}
