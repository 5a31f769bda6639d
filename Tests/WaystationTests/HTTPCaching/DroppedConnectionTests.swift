import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("A connection that is dropped before a response")
struct DroppedConnectionTests {
    @Test("is made again for a safe request, once")
    func safe() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() == 1 ? .raw(Data()) : .ok("good", fields: ["Cache-Control": "max-age=60"])
        }
        #expect(try await fixture.load().body == "good")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("is not made again for an unsafe one")
    func unsafe() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in count.next() == 1 ? .raw(Data()) : .ok("good") }
        await #expect(throws: URLError.self) { try await fixture.load(method: "POST", body: Data("x".utf8)) }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("is not made again for a method that is not idempotent (RFC 9110 §9.2.2)", arguments: ["POST", "PATCH"])
    func notIdempotent(method: String) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in count.next() == 1 ? .closed : .ok("good") }
        await #expect(throws: URLError.self) { try await fixture.load(method: method) }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("is made again for an idempotent one, with its body", arguments: ["PUT", "DELETE"])
    func idempotent(method: String) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in count.next() == 1 ? .closed : .ok("good") }
        #expect(try await fixture.load(method: method, body: Data("x".utf8)).body == "good")
        #expect(fixture.origin.requests.map(\.body) == [Data("x".utf8), Data("x".utf8)])
    }

    @Test("is made again once, and no more", arguments: ["GET", "HEAD", "PUT"])
    func once(method: String) async throws {
        let fixture = try CachingFixture { _ in .closed }
        await #expect(throws: URLError.self) { try await fixture.load(method: method) }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("is not made again when a response had begun", arguments: [true, false])
    func begun(isReset: Bool) async throws {
        let fixture = try CachingFixture { _ in
            .stream(
                [.bytes(Data("half".utf8)), isReset ? .reset : .close],
                fields: ["Cache-Control": "max-age=60"],
                framing: .declaredLength(100)
            )
        }
        await #expect(throws: URLError.self) { try await fixture.load() }
        #expect(fixture.origin.requestCount == 1)
    }
}
