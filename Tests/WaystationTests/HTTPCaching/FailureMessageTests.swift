import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

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
