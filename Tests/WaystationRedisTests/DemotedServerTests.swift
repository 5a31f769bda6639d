#if Redis
import Foundation
import Synchronization
import Testing
import WaystationRedis
import WaystationStorage

@Suite("A server that has become a replica")
struct DemotedServerTests {
    private let key = TierKey("waystation:a")
    private let channel = TierKey("waystation:c")

    private var later: ContinuousClock.Instant { .now + .seconds(60) }

    private func tier(_ server: ScriptedRedis) throws -> RedisTier {
        var options = try RedisOptions.server(server.url)
        options.connectTimeout = .seconds(60)
        return try RedisTier(options)
    }

    @Test(
        "is left, with the connections of its channels, for the server that its address leads to now",
        arguments: [
            "-READONLY You can't write against a read only replica.\r\n",
            "-ERR Error running script (call to f_0): @user_script:1: -READONLY You can't write against a replica.\r\n",
        ]
    )
    func movedAddress(refusal: String) async throws {
        let address = MovingAddress()
        let server = try await ScriptedRedis(greets: false) { words in
            switch words.first {
            case "HELLO":
                address.connect()
                return "%0\r\n"
            case "SUBSCRIBE": return ">3\r\n$9\r\nsubscribe\r\n$12\r\nwaystation:c\r\n:1\r\n"
            case "EVAL": return "$1\r\n1\r\n"
            case "SET": return address.takesChange() ? "+OK\r\n" : refusal
            default: return nil
            }
        }
        let tier = try tier(server)
        let messages = try await tier.subscribe(to: channel, until: later)
        let error = await #expect(throws: TierError.self) {
            try await tier.put(Data(), at: key, for: .seconds(600), until: later)
        }
        #expect(error?.code == .refused)
        try await tier.put(Data(), at: key, for: .seconds(600), until: later)
        await #expect(throws: TierError.self) { for try await _ in messages.messages {} }
        _ = try await tier.subscribe(to: channel, until: later)
        try await server.stop()
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

/// An address that has been moved to another server: connections from before stay with the old one.
private final class MovingAddress: Sendable {
    private enum State { case old, refused, new }

    private let state = Mutex(State.old)

    func connect() { state.withLock { if $0 == .refused { $0 = .new } } }

    /// Whether a change is taken; the old server refuses it.
    func takesChange() -> Bool {
        state.withLock { state in
            if state == .old { state = .refused }
            return state == .new
        }
    }
}
#endif
