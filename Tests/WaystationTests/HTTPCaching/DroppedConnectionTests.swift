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

    @Test("is not made again for an unsafe one of any kind", arguments: ["PUT", "PATCH", "DELETE"])
    func otherUnsafe(method: String) async throws {
        let count = Counter()
        let fixture = try CachingFixture { _ in count.next() == 1 ? .closed : .ok("good") }
        await #expect(throws: URLError.self) { try await fixture.load(method: method) }
        #expect(fixture.origin.requestCount == 1)
    }

    @Test("is made again once, and no more", arguments: ["GET", "HEAD"])
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
