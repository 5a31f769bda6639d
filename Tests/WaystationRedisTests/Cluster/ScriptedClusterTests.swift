#if Redis
import Foundation
import Synchronization
import Testing
import WaystationRedis
import WaystationStorage

@Suite("A tier on a cluster that answers in unusual ways")
struct ScriptedClusterTests {
    private let key = TierKey("waystation:a")

    private var later: ContinuousClock.Instant { .now + .seconds(60) }

    /// The tier of servers.
    private func tier(_ urls: String...) throws -> RedisTier {
        var options = try RedisOptions.cluster(urls)
        options.connectTimeout = .seconds(60)
        return try RedisTier(options)
    }

    /// The reply that gives all slots to the server that sends it.
    private static func allSlots(port: Int) -> String {
        "*1\r\n*3\r\n:0\r\n:16383\r\n*3\r\n$-1\r\n:\(port)\r\n$2\r\nid\r\n"
    }

    /// A server that has all slots, by its own account.
    private func server(_ answer: @escaping ScriptedRedis.Script) async throws -> ScriptedRedis {
        let place = Place()
        let server = try await ScriptedRedis { words in
            words.first == "CLUSTER" ? Self.allSlots(port: place.port) : answer(words)
        }
        place.set(server.port)
        return server
    }

    @Test("sends a command again while its slot is between two servers")
    func tryAgain() async throws {
        let answers = Queue(["-TRYAGAIN Multiple keys\r\n", "-TRYAGAIN Multiple keys\r\n", "$1\r\nx\r\n"])
        let server = try await server { _ in answers.next() }
        #expect(try await tier(server.url).get([key], until: later) == [Data("x".utf8)])
        try await server.stop()
    }

    @Test("reads the slots again while the cluster is down, and fails if it stays so")
    func down() async throws {
        let answers = Queue(["-CLUSTERDOWN Hash slot not served\r\n", "$1\r\nx\r\n"])
        let server = try await server { _ in answers.next() ?? "-CLUSTERDOWN The cluster is down\r\n" }
        let tier = try tier(server.url)
        #expect(try await tier.get([key], until: later) == [Data("x".utf8)])
        #expect(tier.counts.topologies == 2)
        let error = await #expect(throws: TierError.self) { try await tier.get([key], until: later) }
        #expect(error?.code == .refused)
        try await server.stop()
    }

    @Test("fails when servers redirect to each other, and at its deadline when they do not answer")
    func circle() async throws {
        let place = Place()
        let server = try await server { _ in "-MOVED 1 :\(place.port)\r\n" }
        place.set(server.port)
        let error = await #expect(throws: TierError.self) { try await tier(server.url).get([key], until: later) }
        #expect(error?.code == .unreachable)
        let silent = try await self.server { _ in nil }
        let late = await #expect(throws: TierError.self) {
            try await tier(silent.url).get([key], until: .now + .milliseconds(300))
        }
        #expect(late?.code == .late)
        try await server.stop()
        try await silent.stop()
    }

    @Test("learns the slots from a second server while the first one does not answer, or is no member")
    func seeds() async throws {
        let silent = try await ScriptedRedis { _ in nil }
        let stranger = try await ScriptedRedis { _ in "*0\r\n" }
        let good = try await server { _ in "$1\r\nx\r\n" }
        let tier = try tier(silent.url, stranger.url, good.url)
        #expect(try await tier.get([key], until: later) == [Data("x".utf8)])
        for server in [silent, stranger, good] { try await server.stop() }
    }

    @Test("reads several values in one turn, each at the server of its slot")
    func several() async throws {
        let server = try await server { words in "$\(words[1].count)\r\n\(words[1])\r\n" }
        let keys = (0..<50).map { TierKey("waystation:\($0)") }
        let values = try await tier(server.url).get(keys, until: later)
        #expect(values == keys.map { Data($0.name.utf8) })
        try await server.stop()
    }
}

/// The port of a server, known once it listens.
private final class Place: Sendable {
    private let number = Mutex(0)

    var port: Int { number.withLock(\.self) }

    func set(_ port: Int) { number.withLock { $0 = port } }
}

/// Answers that are given one after the other.
private final class Queue: Sendable {
    private let answers: Mutex<[String]>

    init(_ answers: [String]) { self.answers = Mutex(answers) }

    func next() -> String? { answers.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
}
#endif
