#if Redis
import Foundation
import Synchronization
import Testing
import WaystationRedis
import WaystationStorage
import WaystationTestSupport

@Suite("A tier whose sentinels know too little")
struct ScriptedSentinelTests {
    private let key = TierKey("waystation:a")

    private var later: ContinuousClock.Instant { .now + .seconds(60) }

    private func tier(_ sentinels: ScriptedRedis...) throws -> RedisTier {
        var options = try RedisOptions.sentinel(master: "cache", sentinels.map(\.url))
        options.connectTimeout = .seconds(60)
        return try RedisTier(options)
    }

    /// A sentinel that names a server.
    private func sentinel(naming server: ScriptedRedis, epoch: Int) async throws -> ScriptedRedis {
        try await sentinel { (server, epoch) }
    }

    private func sentinel(
        naming known: @escaping @Sendable () -> (server: ScriptedRedis, epoch: Int)
    ) async throws -> ScriptedRedis {
        try await ScriptedRedis { words in
            let port = "\(known().server.port)"
            return switch words.dropFirst().first {
            case "MASTER": "*2\r\n$12\r\nconfig-epoch\r\n$1\r\n\(known().epoch)\r\n"
            case "GET-MASTER-ADDR-BY-NAME": "*2\r\n$9\r\n127.0.0.1\r\n$\(port.count)\r\n\(port)\r\n"
            default: nil
            }
        }
    }

    private func server(_ role: String, value: String) async throws -> ScriptedRedis {
        try await ScriptedRedis { words in
            switch words.first {
            case "ROLE": "*3\r\n$\(role.count)\r\n\(role)\r\n:1\r\n*0\r\n"
            case "GET": "$\(value.count)\r\n\(value)\r\n"
            default: nil
            }
        }
    }

    @Test("refuses a server that is a replica by now, and sends it no command")
    func replica() async throws {
        let replica = try await server("slave", value: "old")
        let sentinel = try await sentinel(naming: replica, epoch: 1)
        let tier = try tier(sentinel)
        let error = await #expect(throws: TierError.self) { try await tier.get([key], until: later) }
        #expect(error?.code == .unreachable)
        #expect(replica.commands.allSatisfy { $0 == ["ROLE"] })
        #expect(!replica.commands.isEmpty)
        for server in [replica, sentinel] { try await server.stop() }
    }

    @Test("believes the sentinel with the newest knowledge")
    func newest() async throws {
        let (old, new) = (try await server("master", value: "old"), try await server("master", value: "new"))
        let sentinels = (
            try await sentinel(naming: old, epoch: 3), try await sentinel(naming: new, epoch: 4),
            try await ScriptedRedis { _ in "*-1\r\n" }
        )
        let tier = try tier(sentinels.0, sentinels.1, sentinels.2)
        #expect(try await tier.get([key], until: later) == [Data("new".utf8)])
        for server in [old, new, sentinels.0, sentinels.1, sentinels.2] { try await server.stop() }
    }

    @Test("leaves a primary that still answers, when a sentinel reports that it was replaced")
    func notice() async throws {
        let (old, new) = (try await server("master", value: "old"), try await server("master", value: "new"))
        let known = Mutex((server: old, epoch: 1))
        let sentinel = try await sentinel { known.withLock(\.self) }
        let tier = try tier(sentinel)
        @Sendable func polls() -> Int { sentinel.commands.count { $0.contains("GET-MASTER-ADDR-BY-NAME") } }
        #expect(try await tier.get([key], until: later) == [Data("old".utf8)])
        #expect(await eventually { sentinel.commands.contains(["SUBSCRIBE", "+switch-master"]) })
        // A notice may have been lost before the channel was confirmed, so the sentinel is asked then too.
        let before = polls()
        sentinel.push(">3\r\n$9\r\nsubscribe\r\n$14\r\n+switch-master\r\n:1\r\n")
        #expect(await eventually { polls() > before })
        known.withLock { $0 = (new, 2) }
        let notice = "cache 127.0.0.1 \(old.port) 127.0.0.1 \(new.port)"
        sentinel.push(">3\r\n$7\r\nmessage\r\n$14\r\n+switch-master\r\n$\(notice.count)\r\n\(notice)\r\n")
        // A command that is under way when the old primary is left may fail.
        #expect(await eventually { (try? await tier.get([key], until: later)) == [Data("new".utf8)] })
        for server in [old, new, sentinel] { try await server.stop() }
    }

    @Test("reports that sentinels do not know the name")
    func unknown() async throws {
        let sentinel = try await ScriptedRedis { _ in "-ERR No such master with that name\r\n" }
        let tier = try tier(sentinel)
        let error = await #expect(throws: TierError.self) { try await tier.get([key], until: later) }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("No such master") == true)
        try await sentinel.stop()
    }
}
#endif
