#if Redis
import Foundation
import Testing
import WaystationStorage
import WaystationTestSupport

@testable import Waystation
@testable import WaystationRedis

@Suite("Machines under load while the servers of their tier change")
struct FleetLoadTests {
    @Test("get every body right while slots move and a primary of the cluster is killed")
    func cluster() async throws {
        let cluster = try RedisCluster()
        defer { cluster.stop() }
        let fleet = try FleetLoads(try .cluster(cluster.urls))
        try await fleet.run(seed: 16) {
            #expect(await eventually { fleet.progress >= FleetLoads.count / 4 })
            // The number of the invalidations is lost with its server, and the root of all entries is moved.
            let keys = SharedKeys(secret: FleetLoads.secret)
            let number = HashSlot(of: keys.invalidations.name + ":number").number
            let root = HashSlot(of: keys.root.name).number
            let doomed = try #require(index(of: cluster.primary(of: number), in: cluster))
            let source = try #require(index(of: cluster.primary(of: root), in: cluster))
            let target = try #require(cluster.primaries.indices.first { $0 != doomed && $0 != source })
            try await moveSlots(of: cluster, from: source, to: target, first: root, without: number, under: fleet)
            #expect(await eventually { fleet.progress >= FleetLoads.count / 2 })
            try cluster.failOver(after: 1_000)
            cluster.primaries[doomed].kill()
            #expect(await eventually { cluster.replicas[doomed].isPrimary })
        }
        try await fleet.expectAgreement()
        print("fleet loads on a cluster:", fleet.progress, fleet.counts)
    }

    @Test("get every body right while the primary of sentinels is killed")
    func sentinel() async throws {
        let servers = try RedisSentinels()
        defer { servers.stop() }
        let fleet = try FleetLoads(try .sentinel(master: RedisSentinels.name, servers.urls))
        try await fleet.run(seed: 17) {
            #expect(await eventually { fleet.progress >= FleetLoads.count / 3 })
            try servers.failOver(after: 500)
            servers.primary.kill()
            #expect(await eventually { servers.replica.isPrimary })
        }
        try await fleet.expectAgreement()
        #expect(fleet.counts.failovers >= 1)
        print("fleet loads with sentinels:", fleet.progress, fleet.counts)
    }

    private func index(of server: RedisServer?, in cluster: RedisCluster) -> Int? {
        cluster.primaries.firstIndex { $0.port == server?.port }
    }

    /// Moves slots of a primary to another one, and waits in both states until commands have met it.
    private func moveSlots(
        of cluster: RedisCluster,
        from source: Int,
        to target: Int,
        first: Int,
        without kept: Int,
        under fleet: FleetLoads
    ) async throws {
        let (source, target) = (cluster.primaries[source], cluster.primaries[target])
        let keys = try source.run("KEYS", "*").split(separator: "\n").map(String.init)
        let others = Set(keys.map { HashSlot(of: $0).number }).subtracting([first, kept]).sorted().prefix(60)
        let slots = [first] + others
        for slot in slots { try cluster.beginMove(of: slot, from: source, to: target) }
        for slot in slots { try cluster.moveValues(of: slot, from: source, to: target) }
        #expect(await eventually { fleet.counts.asked > 0 })
        for slot in slots { try cluster.endMove(of: slot, from: source, to: target) }
        #expect(await eventually { fleet.counts.moved > 0 })
    }
}
#endif
