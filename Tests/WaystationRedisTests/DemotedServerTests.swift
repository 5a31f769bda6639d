#if Redis
import Foundation
import Testing
import WaystationRedis
import WaystationSharing

@Suite("A server that has become a replica")
struct DemotedServerTests {
    private let key = TierKey("waystation:a")

    private var later: ContinuousClock.Instant { .now + .seconds(60) }

    private func tier(_ server: ScriptedRedis) throws -> RedisTier {
        var options = try RedisOptions.server(server.url)
        options.connectTimeout = .seconds(60)
        return try RedisTier(options)
    }

    @Test(
        "does not confirm a removal, nor does one whose role is unknown",
        arguments: ["*3\r\n$5\r\nslave\r\n$1\r\na\r\n:1\r\n", "*0\r\n", "+OK\r\n"]
    )
    func role(reply: String) async throws {
        let server = try await ScriptedRedis { words in
            switch words.first {
            case "ROLE": reply
            case "DEL", "EVAL": ":1\r\n"
            default: nil
            }
        }
        let tier = try tier(server)
        let error = await #expect(throws: TierError.self) {
            try await tier.remove(key, ifEqualTo: nil, until: later)
        }
        #expect(error?.code == .unreachable)
        try await server.stop()
    }
}
#endif
