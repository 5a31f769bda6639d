#if Redis
import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import WaystationRedis

@Suite("A tier on a Redis Cluster")
struct RedisClusterTests {
    private static let user = """
        user fleet on >s3cret ~waystation:* &waystation:* -@all +get +set +del +pexpire +eval +exists +incr +time \
        +publish +subscribe +ping +hello +role +wait +asking +cluster|slots
        """

    /// The tier of a cluster, with time for a busy machine.
    private func tier(
        of cluster: RedisCluster,
        _ change: (inout RedisOptions) -> Void = { _ in }
    ) throws -> RedisTier {
        var options = try RedisOptions.cluster(cluster.urls)
        options.connectTimeout = .seconds(60)
        change(&options)
        return try RedisTier(options)
    }

    private var later: ContinuousClock.Instant { .now + .seconds(60) }

    @Test("is a tier that machines can share, whose servers have the slots that the tier expects")
    func conformance() async throws {
        let cluster = try RedisCluster()
        defer { cluster.stop() }
        let tier = try tier(of: cluster)
        try await SharedTierConformance(of: tier).check()
        #expect(tier.counts.topologies > 0)
        #expect(tier.counts.moved == 0 && tier.counts.asked == 0)
        var generator = SeededGenerator(seed: 16)
        for _ in 0..<20 {
            let letters = "ab{}:"
            let key = String(
                (0..<Int.random(in: 1...12, using: &generator)).compactMap { _ in
                    letters.randomElement(using: &generator)
                }
            )
            #expect(try cluster.primaries[0].run("CLUSTER", "KEYSLOT", key) == "\(HashSlot(of: key).number)")
        }
        let keys = (0..<30).map { TierKey("waystation:\($0)") }
        for key in keys { try await tier.put(Data(key.name.utf8), at: key, for: .seconds(600), until: later) }
        #expect(try await tier.get(keys, until: later) == keys.map { Data($0.name.utf8) })
        for server in cluster.primaries { #expect(try Int(server.run("DBSIZE")) ?? 0 > 0) }
    }

    @Test(
        "is one over TLS, for a user with few rights, whose servers have certificates for their host names",
        arguments: ["ip", "hostname"]
    )
    func encrypted(endpoint: String) async throws {
        let certificates = try Certificates()
        let cluster = try RedisCluster(
            certificates: certificates,
            named: "name",
            directives: """
                \(Self.user)
                cluster-announce-hostname localhost
                cluster-preferred-endpoint-type \(endpoint)
                """
        )
        defer { cluster.stop() }
        var options = try RedisOptions.cluster(
            cluster.servers.map { "rediss://fleet:s3cret@localhost:\($0.port)" }
        )
        options.connectTimeout = .seconds(60)
        options.tls?.trustedRootsPath = certificates.path("ca.pem")
        try await SharedTierConformance(of: try RedisTier(options)).check()
    }

    @Test("follows a slot on its way to another server, and its channel")
    func moves() async throws {
        let cluster = try RedisCluster()
        defer { cluster.stop() }
        let tier = try tier(of: cluster) { $0.keepaliveInterval = .milliseconds(200) }
        let name = { (last: String) in TierKey("waystation:{moving}:\(last)") }
        let slot = HashSlot(of: name("a").name).number
        let source = try #require(cluster.primary(of: slot))
        let target = try #require(cluster.primaries.first { $0.port != source.port })
        let value = Data("value".utf8)
        try await tier.put(value, at: name("a"), for: .seconds(600), until: later)
        let channel = name("channel")
        let messages = try await tier.subscribe(to: channel, until: later)
        let number = try await tier.publish(Data("1".utf8), on: channel, isDurable: true, until: later)

        try cluster.beginMove(of: slot, from: source, to: target)
        // One value is still at the old server, the other one would be at the new one.
        #expect(try await tier.get([name("a"), name("b")], until: later) == [value, nil])
        #expect(tier.counts.asked == 1)
        try cluster.moveValues(of: slot, from: source, to: target)
        #expect(try await tier.get([name("a")], until: later) == [value])
        #expect(try await tier.lease(value, at: name("lease"), for: .seconds(600), until: later))
        #expect(try await !tier.lease(Data(), at: name("lease"), for: .seconds(600), until: later))
        #expect(try await tier.touch(name("lease"), for: .seconds(600), until: later))
        try await tier.remove(name("lease"), ifEqualTo: value, until: later)
        try await tier.put(value, at: name("c"), for: .seconds(600), until: later)
        try await tier.remove(name("c"), ifEqualTo: nil, until: later)
        #expect(try await tier.get([name("lease"), name("c")], until: later) == [nil, nil])
        #expect(try await tier.publish(Data("2".utf8), on: channel, isDurable: true, until: later) == number + 1)
        #expect(tier.counts.moved == 0)
        var received = messages.messages.makeAsyncIterator()
        #expect(try await received.next() == TierMessage(number: number, content: Data("1".utf8)))
        #expect(try await received.next() == TierMessage(number: number + 1, content: Data("2".utf8)))

        try cluster.endMove(of: slot, from: source, to: target)
        // The messages end without any call of the tier: it looks for the number's place from time to time.
        await #expect(throws: TierError.self) { for try await _ in messages.messages {} }
        #expect(tier.counts.moved > 0)
        #expect(try await tier.get([name("a")], until: later) == [value])
        var again: TierSubscription?
        #expect(
            await eventually {
                again = try? await tier.subscribe(to: channel, until: later)
                return again != nil
            }
        )
        #expect(again?.lastNumber == number + 1)
    }

    @Test("goes on with the replica of a primary that was killed, and loses no removal")
    func killedPrimary() async throws {
        let cluster = try RedisCluster()
        defer { cluster.stop() }
        let tier = try tier(of: cluster)
        let names = { (last: String) in TierKey("waystation:{killed}:\(last)") }
        let primary = try #require(cluster.primary(of: HashSlot(of: names("a").name).number))
        for last in ["a", "b"] {
            try await tier.put(Data(last.utf8), at: names(last), for: .seconds(600), until: later)
        }
        let messages = try await tier.subscribe(to: names("channel"), until: later)
        let number = try await tier.publish(Data(), on: names("channel"), isDurable: true, until: later)
        // The replica has confirmed it, and with it all that came before.
        try await tier.remove(names("a"), ifEqualTo: nil, until: later)
        try cluster.failOver(after: 1_000)
        primary.kill()
        await #expect(throws: TierError.self) { for try await _ in messages.messages {} }
        let left: [Data?] = [nil, Data("b".utf8)]
        #expect(
            await eventually {
                let read = try? await tier.get([names("a"), names("b")], until: .now + .seconds(1))
                return read == left
            }
        )
        var again: TierSubscription?
        #expect(
            await eventually {
                again = try? await tier.subscribe(to: names("channel"), until: later)
                return again != nil
            }
        )
        #expect(again?.lastNumber == number)
    }

    @Test("does not promise a removal that a replica has not confirmed, and reads meanwhile")
    func unconfirmed() async throws {
        let cluster = try RedisCluster()
        defer { cluster.stop() }
        let tier = try tier(of: cluster)
        let key = TierKey("waystation:a")
        let other = TierKey("waystation:{waystation:a}")
        try await tier.put(Data("x".utf8), at: other, for: .seconds(600), until: later)
        try await tier.put(Data("x".utf8), at: key, for: .seconds(600), until: later)
        let index = try #require(
            cluster.primaries.firstIndex { $0.port == cluster.primary(of: HashSlot(of: key.name).number)?.port }
        )
        let replica = cluster.replicas[index]
        replica.pause()
        let error = await #expect(throws: TierError.self) {
            async let value = tier.get([other], until: later)
            async let removal: Void = tier.remove(key, ifEqualTo: nil, until: .now + .milliseconds(500))
            #expect(try await value == [Data("x".utf8)])
            try await removal
        }
        #expect(error?.code == .late)
        // The value is gone by now, so a second removal changes nothing by itself; its connection is a new one.
        let repeated = await #expect(throws: TierError.self) {
            try await tier.remove(key, ifEqualTo: nil, until: .now + .milliseconds(500))
        }
        #expect(repeated?.code == .late)
        await #expect(throws: TierError.self) {
            try await tier.publish(
                Data(),
                on: TierKey(other.name + ":channel"),
                isDurable: true,
                until: .now + .milliseconds(500)
            )
        }
        // A message whose number need not last does not wait for the replica.
        _ = try await tier.publish(Data(), on: TierKey(other.name + ":channel"), isDurable: false, until: later)
        replica.resume()
        #expect(await eventually { (try? await tier.remove(key, ifEqualTo: nil, until: later)) != nil })
    }
}
#endif
