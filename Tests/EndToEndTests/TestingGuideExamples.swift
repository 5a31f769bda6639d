import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

/// The examples of the articles about testing, which are run.
@Suite("The examples of the testing guides")
struct TestingGuideExamples {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "waystation-guide-\(UUID().uuidString)")

    @Test("answers")
    func answers() async throws {
        // snippet: guide-answers
        let stubs = try Stubs {
            Stub(.get("https://api.example/news"), .status(503), .ok("all quiet"))
            Stub(.get("https://api.example/users/*"), .template(#"{"id": "{path.1}"}"#))
            Stub(.get("https://api.example/slow"), .ok("at last").delayed(by: .seconds(30)))
            Stub(.get("https://api.example/film"), .truncated(Data(count: 1_000), after: 10))
            Stub(.any("https://ads.example/**"), .failure(.cannotFindHost))
            Stub(.put("https://api.example/names/*")) { request in
                .json(["name": request.text], status: request.body.isEmpty ? 400 : 200)
            }
        }
        // end snippet
        let session = try stubs.makeSession()
        func text(_ url: String) async throws -> String {
            String(decoding: try await session.data(from: #require(URL(string: url))).0, as: UTF8.self)
        }
        #expect(try await text("https://api.example/news").isEmpty)
        #expect(try await text("https://api.example/news") == "all quiet")
        #expect(try await text("https://api.example/users/7") == #"{"id": "7"}"#)
        #expect(try await text("https://api.example/slow") == "at last")
        for (url, code) in [
            ("https://api.example/film", URLError.Code.networkConnectionLost),
            ("https://ads.example/a", .cannotFindHost),
        ] {
            let error = await #expect(throws: URLError.self) { try await text(url) }
            #expect(error?.code == code)
        }
        var put = URLRequest(url: try #require(URL(string: "https://api.example/names/7")))
        put.httpMethod = "PUT"
        let (name, _) = try await session.upload(for: put, from: Data("Ada".utf8))
        #expect(String(decoding: name, as: UTF8.self) == #"{"name":"Ada"}"#)
    }

    @Test("an error that explains itself")
    func noMatch() async throws {
        let line = 12
        let stubs = try Stubs {
            Stub(.get("https://api.example/orders"), fileID: "ShopTests/OrderTests.swift", line: line)
            Stub(
                .post("https://api.example/orders").json("id", 8),
                fileID: "ShopTests/OrderTests.swift",
                line: line + 1
            )
        }
        var request = URLRequest(url: try #require(URL(string: "https://api.example/orders")))
        request.httpMethod = "POST"
        request.httpBody = Data(#"{"id": 7}"#.utf8)
        let session = try stubs.makeSession()
        let error = await #expect(throws: URLError.self) { try await session.data(for: request) }
        try Documents.article("TestingYourCode").expectToShow(error?.localizedDescription ?? "no error")
    }

    @Test("one rule has stubs, another the cache")
    func rules() async throws {
        let cacheFolder = folder
        defer { try? FileManager.default.removeItem(at: folder) }
        let stubs = try Stubs { Stub(.get("https://api.example/a"), .ok("stubbed")) }
        // snippet: guide-rules
        let interceptor = try Interceptor {
            $0.rules = [
                .allow("https://api.example/**", via: .stubs(stubs)),
                .allow("https://img.example/**", via: .cache(.cacheFirst(for: .days(7)))),
            ]
            $0.cache = try ResponseCache(directory: cacheFolder)
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        // end snippet
        let url = try #require(URL(string: "https://api.example/a"))
        #expect(try await session.data(from: url).0 == Data("stubbed".utf8))
    }

    @Test("stubs lie below the cache")
    func cache() async throws {
        let cacheFolder = folder
        defer { try? FileManager.default.removeItem(at: folder) }
        let url = try #require(URL(string: "https://img.example/logo"))
        // snippet: guide-cache
        let stubs = try Stubs { Stub(.get("https://img.example/logo"), .ok("logo")).once() }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://img.example/**", via: .cache(.cacheFirst(for: .days(7))))]
            $0.cache = try ResponseCache(directory: cacheFolder)
            $0.makeTransport = { _ in stubs }
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let (first, _) = try await session.data(from: url)
        let (second, _) = try await session.data(from: url)  // from the cache: the stub is asked once
        try stubs.verify()
        // end snippet
        #expect(first == second)
    }

    @Test("a network of one's own")
    func faults() async throws {
        let stubs = try Stubs { Stub(.any("*://*:*/**"), .ok("slow")) }
        // snippet: guide-faults
        let train = Faults {
            $0.latency = .milliseconds(400)
            $0.jitter = .milliseconds(300)
            $0.bytesPerSecond = 20_000
            $0.failure = .loss(afterBytes: 5_000)
            $0.probability = 0.1
            $0.seed = 7
        }
        let session = try stubs.makeSession(faults: train)
        // end snippet
        #expect(try await session.data(from: #require(URL(string: "https://a.example/"))).0 == Data("slow".utf8))
    }

    @Test("a recording's options")
    func recording() async throws {
        let file = folder.appending(path: "orders.har")
        defer { try? FileManager.default.removeItem(at: folder) }
        // snippet: guide-recording
        var redaction = Redaction.standard
        redaction.itemNames.insert("pin")
        let recording = try Recording(
            file,
            matching: [.method, .url(without: ["time"]), .body],
            redaction: redaction,
            expiresAfter: .days(90)
        )
        for warning in recording.warnings { print(warning) }
        // end snippet
        #expect(recording.mode == .record)
    }
}
