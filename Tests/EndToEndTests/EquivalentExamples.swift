import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting
import XCTest

/// The code in the tables of the article about other libraries: each cell is a part of this file.
private enum EquivalentExamples {
    static func stubs(_ body: Data, _ data: Data, _ file: URL, _ gate: ScriptedTransport.Gate) throws -> [Stub] {
        [
            Stub(.get("https://api.example/users/*"), .json(["name": "Ada"])),
            Stub(.get("https://api.example/users"), .status(503), .ok("ready")),
            Stub(.any("*://api.example/**"), .ok("hello")),
            Stub(.any("https://*:*/**"), .failure(.notConnectedToInternet)),
            Stub(.any("*://*:*/**/*.png"), .file(file)),
            Stub(.get("https://api.example/users").query("page", "2")),
            Stub(.get("https://api.example/users").field("Accept", "text/html")),
            Stub(.post("https://api.example/orders").body(body)),
            Stub(.post("https://api.example/orders").json("", ["id": 7])),
            Stub(.post("https://api.example/orders").json("customer.id", 7)),
            Stub(.post("https://api.example/login").form("user", "ada")),
            Stub(.any("*://*:*/**").where(otherwise: "the signature is wrong") { $0.field("Signature") == "ok" }),
            Stub(.get("https://api.example/logo"), .file(file, fields: ["Cache-Control": "no-store"])),
            Stub(.get("https://api.example/slow"), .ok().delayed(by: .seconds(30))),
            Stub(.get("https://api.example/held"), .ok().held(at: gate)),
            Stub(.get("https://api.example/old"), .redirect(301, to: "/new")),
            Stub(.get("https://api.example/cut"), .truncated(data, after: 10)),
            Stub(.get("https://api.example/echo"), .template("{method} {query.page} {json.customer.id}")),
            Stub(.get("https://api.example/silent"), .unanswered),
            Stub(.post("https://api.example/orders"), .status(201)).once(),
            Stub(.any("https://ads.example/**")).never(),
            Stub(.put("https://api.example/users/*")) { request in .json(["id": request.pathSegments[1]]) },
        ]
    }

    static func use(_ stubs: Stubs, _ file: URL, _ network: any Transport) async throws {
        let configuration: URLSessionConfiguration = .ofTest
        let session = try stubs.makeSession()
        _ = try stubs.makeSession(faults: .slow3G)
        _ = try stubs.makeSession(faults: .flaky(seed: 7))
        _ = try Stubs(inOrder: true) { Stub(.get("https://api.example/a")) }
        _ = try stubs.calls(to: .post("https://api.example/orders"))
        #expect(try stubs.calls(to: .post("https://api.example/orders")).map(\.text) == [#"{"item": "tea"}"#])
        try stubs.verify()
        try await withStubs {
            Stub(.get("https://api.example/a"))
        } perform: { stubs in
            XCTAssertEqual(stubs.calls.count, 0)
        }
        let recording = try Recording(file)
        _ = try Recording(file, mode: .once)
        _ = try Recording(file, mode: .replay)
        _ = try Recording(file, mode: .record)
        _ = try Recording(file, mode: .passthrough)
        _ = try Recording(file, matching: [.method, .path])
        _ = try Recording(file, matching: [.method, .url(without: ["time"]), .body])
        _ = try Recording(file, matching: [.method, .url, .field("Accept")])
        _ = try Recording(file, redaction: Redaction(fieldNames: ["X-Pin"], itemNames: ["pin"]))
        _ = try Recording(file, redaction: .standard)
        _ = try Recording(file, expiresAfter: .days(90))
        try recording.verify()
        _ = try Interceptor { $0.rules = [.allow("https://api.example/**", via: .stubs(stubs))] }
        _ = try Interceptor { $0.rules = [.allow("https://api.example/**", via: .recorded(recording))] }
        _ = try stubs.makeInterceptor(rules: [.allow("https://live.example/**", via: .network)])
        try Interceptor.registerForSharedSession(stubs.makeInterceptor())
        _ = (configuration, session)
    }

    static func origin() throws {
        let origin = try ScriptedOrigin { request in request.path == "/a" ? .ok("a") : .status(404) }
        _ = origin.requests
        _ = try ScriptedOrigin { _ in .reset }
        _ = try ScriptedOrigin { _ in .webSocketEcho }
    }

    @Test(.disabled(), .stubbed { Stub(.get("https://api.example/a"), .ok("a")) })
    static func stubbed() {}

    @Test(.disabled(), .recorded("orders"))
    static func recorded() {}

    @Test(.disabled(), .recorded("orders", matching: [.method, .path]))
    static func matched() {}
}

@Suite("The article about other libraries")
struct EquivalentTests {
    @Test("shows only code of ours that is compiled, and tests that exist")
    func cells() throws {
        let code = try String(contentsOfFile: #filePath, encoding: .utf8).collapsed
        let tables = try Documents.article("ComingFromOtherLibraries").tables
        let cells = tables.flatMap { table in
            let column = table[0].firstIndex(of: "Waystation")
            return column.map { column in table.dropFirst(2).map { $0[column] } } ?? []
        }
        #expect(cells.count > 60)
        for cell in cells {
            let pieces = cell.matches(of: /`([^`]+)`/).map { String($0.output.1) }
            let isAbsent = cell.hasPrefix("absent") || cell.hasPrefix("not needed")
            let isProven = !pieces.isEmpty || cell.contains("‹") || isAbsent
            #expect(isProven, "\(cell) is neither code nor a test")
            for piece in pieces where !piece.hasPrefix("WAYSTATION_RECORD") {
                #expect(code.contains(piece.collapsed), "\(piece) is not compiled")
            }
        }
    }
}

extension Document {
    /// The tables, as rows of cells.
    fileprivate var tables: [[[String]]] {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.split { !$0.hasPrefix("|") }.map { table in
            table.map { line in
                line.dropFirst().dropLast().split(separator: "|", omittingEmptySubsequences: false)
                    .map { $0.trimmingCharacters(in: .whitespaces) }
            }
        }
    }
}

extension String {
    /// The text with one space in place of each run of white space.
    fileprivate var collapsed: String { split(whereSeparator: \.isWhitespace).joined(separator: " ") }
}
