import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

@Suite("A request whose connection is dropped before the response")
struct DroppedConnectionTests {
    @Test("is repeated once with a safe method")
    func safe() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in
            count.next() == 1 ? .raw(Data()) : .ok("good", fields: ["Cache-Control": "max-age=60"])
        }
        #expect(try await fixture.load().body == "good")
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("is not repeated with an unsafe method")
    func unsafe() async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in count.next() == 1 ? .raw(Data()) : .ok("good") }
        await #expect(throws: URLError.self) { try await fixture.load(method: "POST", body: Data("x".utf8)) }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("is not repeated with a method that is not idempotent (RFC 9110 §9.2.2)", arguments: ["POST", "PATCH"])
    func notIdempotent(method: String) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in count.next() == 1 ? .closed : .ok("good") }
        await #expect(throws: URLError.self) { try await fixture.load(method: method) }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("is repeated with an idempotent method, including the body", arguments: ["PUT", "DELETE"])
    func idempotent(method: String) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in count.next() == 1 ? .closed : .ok("good") }
        #expect(try await fixture.load(method: method, body: Data("x".utf8)).body == "good")
        #expect(fixture.origin.requests.map(\.body) == [Data("x".utf8), Data("x".utf8)])
    }

    @Test("is repeated only once", arguments: ["GET", "HEAD", "PUT"])
    func once(method: String) async throws {
        let fixture = try CachingFixture { _ in .closed }
        await #expect(throws: URLError.self) { try await fixture.load(method: method) }
        #expect(fixture.origin.requestCount == 2)
    }

    @Test("is not repeated when the response has begun", arguments: [true, false])
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
