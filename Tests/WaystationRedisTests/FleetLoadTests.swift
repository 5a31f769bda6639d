#if Redis
import Foundation
import Testing
import WaystationTestSupport

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
            try await moveSlots(of: cluster, under: fleet)
            #expect(await eventually { fleet.progress >= FleetLoads.count / 2 })
            try cluster.failOver(after: 1_000)
            cluster.primaries[2].kill()
            #expect(try await eventually { try cluster.replicas[2].run("ROLE").hasPrefix("master") })
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
            #expect(try await eventually { try servers.replica.run("ROLE").hasPrefix("master") })
        }
        try await fleet.expectAgreement()
        #expect(fleet.counts.failovers >= 1)
        print("fleet loads with sentinels:", fleet.progress, fleet.counts)
    }

    /// Moves slots of the first primary to the second one, and waits in both states until commands have met it.
    private func moveSlots(of cluster: RedisCluster, under fleet: FleetLoads) async throws {
        let (source, target) = (cluster.primaries[0], cluster.primaries[1])
        let keys = try source.run("KEYS", "*").split(separator: "\n").map(String.init)
        let slots = Set(keys.map { HashSlot(of: $0).number }).sorted().prefix(60)
        for slot in slots { try cluster.beginMove(of: slot, from: source, to: target) }
        for slot in slots { try cluster.moveValues(of: slot, from: source, to: target) }
        #expect(await eventually { fleet.counts.asked > 0 })
        for slot in slots { try cluster.endMove(of: slot, from: source, to: target) }
        #expect(await eventually { fleet.counts.moved > 0 })
    }
}
#endif
