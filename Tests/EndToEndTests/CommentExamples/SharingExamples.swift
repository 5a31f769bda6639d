import Foundation
import Testing
import Waystation
import WaystationTesting

#if Redis
import WaystationRedis
#endif

@Suite("The examples of shared responses")
struct SharingExamples {
    @Test("run")
    func conformance() async throws {
        // snippet: conformance of a tier
        try await SharedTierConformance(of: InMemoryTier()).check()
        // end snippet
    }

    #if Redis
    @Test("are of caches over Redis, which are made without a connection")
    func redis() throws {
        let caches = FileManager.default.temporaryDirectory.appending(path: "sharing-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: caches) }
        let secret = Data(repeating: 7, count: 32)
        // snippet: cache over redis
        let tier = try RedisTier(RedisOptions(host: "cache.internal"))
        let cache = try ResponseCache(directory: caches, sharing: .init(in: tier, secret: secret))
        // end snippet
        #expect(cache.directory == caches)
        // snippet: forms of a tier on redis
        let single = try RedisTier(.server("rediss://fleet:s3cret@cache.internal"))
        let cluster = try RedisTier(.cluster(["redis://a:7000", "redis://b:7000"]))
        let watched = try RedisTier(.sentinel(master: "cache", ["redis://s1", "redis://s2", "redis://s3"]))
        // end snippet
        _ = (single, cluster, watched)
    }
    #endif
}
