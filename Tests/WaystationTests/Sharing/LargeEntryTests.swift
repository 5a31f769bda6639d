#if Redis
import Foundation
import HTTPTypes
import Testing
import WaystationRedis
import WaystationHTTP
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("A value on Redis that is larger than any that a cache shares", .timeLimit(.minutes(10)))
struct LargeEntryTests {
    @Test("is not read, and is removed as a damaged one")
    func removed() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        func tier() throws -> RedisTier { try RedisTier(RedisOptions(host: "127.0.0.1", port: server.port)) }
        let (writer, reader, other) = (try tier(), try tier(), try tier())
        let first = try await fleet.machine { $0.tier = writer }
        try await fleet.load(on: first)
        await first.cache.flush()
        let request = SharedRequest(
            key: RequestKey(method: "GET", url: fleet.origin.url("/").absoluteString),
            fields: [:]
        )
        let entry = SharedKeys(secret: FleetFixture.secret).entry(request)
        let later = ContinuousClock.now + .seconds(300)
        #expect(try await writer.get([entry], until: later) != [nil])
        try await writer.put(Data(count: 60 << 20), at: entry, for: .seconds(600), until: later)
        let second = try await fleet.machine { $0.tier = reader }
        let before = try sentBytes(server)
        #expect(try await fleet.load(on: second).body == "page")
        // The server sends what the system's buffers take.
        #expect(try sentBytes(server) - before < 30 << 20)
        #expect(await fleet.event(.damaged, on: second) != nil)
        await second.cache.flush()
        let third = try await fleet.machine { $0.tier = other }
        #expect(try await fleet.load(on: third).isShared)
        #expect(fleet.trips == 2)
    }

    private func sentBytes(_ server: RedisServer) throws -> Int {
        let line = try server.run("info", "stats").split(whereSeparator: \.isNewline)
            .first { $0.hasPrefix("total_net_output_bytes:") }
        return try #require(line.flatMap { $0.split(separator: ":").last }.flatMap { Int($0) })
    }
}
#endif
