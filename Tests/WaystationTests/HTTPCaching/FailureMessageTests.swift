import Foundation
import FoundationNetworking
import Testing
import WaystationTesting

@testable import Waystation

@Suite("The error of a load that neither the network nor the cache can answer")
struct FailureMessageTests {
    private func failure(_ fixture: CachingFixture, _ target: String = "/page") async throws -> URLError {
        try #require(await #expect(throws: URLError.self) { try await fixture.load(target) })
    }

    @Test(
        "says that the network failed and that the cache holds nothing",
        arguments: [
            CacheStrategy.networkFirst(), .networkFirst(timeout: .seconds(1)), .standard, .revalidate,
            .cacheFirst(for: .days(1)), .staleWhileRevalidate(upTo: .days(1)),
        ]
    )
    func nothingStored(strategy: CacheStrategy) async throws {
        let fixture = try CachingFixture(strategy) { _ in .ok() }
        fixture.origin.stop()
        let error = try await failure(fixture)
        #expect(error.code == .cannotConnectToHost)
        let message = error.localizedDescription
        #expect(message.contains("the cache was asked too, by .cache(.\(strategy)), and holds nothing for GET http://"))
        #expect(message.contains("/page"))
        let reason = try #require(error.userInfo[NSUnderlyingErrorKey] as? WaystationError)
        #expect(reason.code == .notStored)
        #expect((reason.cause as? URLError)?.code == .cannotConnectToHost)
        #expect(error.failingURL == fixture.origin.url("/page"))
    }

    @Test("is one sentence without the query, user and password of the URL")
    func withoutSecrets() async throws {
        let fixture = try CachingFixture { _ in .ok() }
        fixture.origin.stop()
        let error = try await failure(fixture, "/page?access_token=s3cret&password=s3cret&q=private#s3cret")
        let message = error.localizedDescription
        for text in ["s3cret", "private", "?", "Also", ". ", ".)", ".;"] {
            #expect(!message.contains(text), "\(message)")
        }
        #expect(message.hasSuffix("/page"))
        let reason = try #require(error.userInfo[NSUnderlyingErrorKey] as? WaystationError)
        #expect(!"\(reason)".contains("s3cret"))
        // A program still gets the URL.
        #expect(error.failingURL?.query()?.contains("s3cret") == true)
    }

    @Test(
        "has no secret of the URL, whatever refuses the load",
        arguments: [
            Rule.block("http://127.0.0.1:*/**"), .allow("http://127.0.0.1:*/**", via: .cache(.cacheOnly)),
        ]
    )
    func refusals(rule: Rule) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "messages-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let interceptor = try Interceptor {
            $0.rules = [rule]
            $0.cache = try ResponseCache(directory: folder)
        }
        let session = URLSession(configuration: .ephemeral.intercepted(by: interceptor))
        let url = try #require(URL(string: "http://127.0.0.1:9/a?page=2&access_token=s3cret&password=s3cret"))
        let error = try #require(await #expect(throws: URLError.self) { try await session.data(from: url) })
        #expect(error.localizedDescription.contains("http://127.0.0.1:9/a"))
        #expect(!error.localizedDescription.contains("s3cret"))
        let explanation = await interceptor.explain(url)
        #expect("\(explanation)".contains("page=2&access_token=%5Bredacted%5D"))
        #expect(!"\(explanation)".contains("s3cret"))
        #expect(try !String(decoding: JSONEncoder().encode(explanation), as: UTF8.self).contains("s3cret"))
    }

    @Test("is in events without secrets, beside the URL without secrets")
    func events() throws {
        let url = try #require(
            URL(string: "https://anna:s3cret@a.example/x?page=2&access_token=s3cret&password=s3cret")
        )
        let failure = URLError(.timedOut, failing: url, "no answer from \(url)")
        let kinds: [LoadEvent.Kind] = [
            .served(from: .cache, status: 200, bytes: 1), .failed(failure), .openedElsewhere(url),
            .degraded("\(url) is damaged"),
        ]
        for kind in kinds {
            let text = LoadEvent(kind: kind, url: url, method: "GET").description
            #expect(
                text.hasPrefix("GET https://%5Bredacted%5D@a.example/x?page=2&access_token=%5Bredacted%5D&password=")
            )
            #expect(!text.contains("s3cret"))
        }
    }

    @Test("says that the stored response may not be used stale")
    func mayNotStandIn() async throws {
        let fixture = try CachingFixture { _ in
            .ok("old", fields: ["Cache-Control": "max-age=10, must-revalidate", "ETag": "\"a\""])
        }
        try await fixture.load("/page")
        fixture.clock.advance(by: 20)
        fixture.origin.stop()
        let error = try await failure(fixture)
        #expect(error.localizedDescription.contains("its stored response may not be used for GET http://"))
    }

    @Test("does not mention the cache when the rule does not use it")
    func withoutCache() async throws {
        let fixture = try CachingFixture(.networkOnly) { _ in .ok() }
        fixture.origin.stop()
        #expect(try await !failure(fixture).localizedDescription.contains("cache"))
    }

    @Test("has the WaystationError's message as localized description")
    func localized() {
        let error = #expect(throws: WaystationError.self) {
            try Interceptor { $0.rules = [.allow("https://shop.example/**", via: .cache(.standard))] }
        }
        #expect(error?.localizedDescription == error?.message)
        #expect(error?.message.isEmpty == false)
    }
}
