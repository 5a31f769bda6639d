#if Redis
import Testing
import WaystationStorage

@testable import WaystationRedis

@Suite("The options of a tier on Redis")
struct RedisOptionsTests {
    @Test("are read from the URL of a server")
    func server() throws {
        let options = try RedisOptions.server("rediss://fleet:p%40ss%3A@[::1]:7000/3")
        #expect(options.deployment == .server(RedisEndpoint("::1", 7_000)))
        #expect(options.user == "fleet")
        #expect(options.password == "p@ss:")
        #expect(options.database == 3)
        #expect(options.tls != nil)
        let plain = try RedisOptions.server("redis://cache.internal")
        #expect(plain.deployment == .server(RedisEndpoint("cache.internal", 6_379)))
        #expect(plain.user == nil && plain.password == nil && plain.database == 0 && plain.tls == nil)
        let onlyPassword = try RedisOptions.server("redis://:s3cret@a/")
        #expect(onlyPassword.user == nil && onlyPassword.password == "s3cret")
    }

    @Test("are read from the URLs of a cluster, each server once")
    func cluster() throws {
        let options = try RedisOptions.cluster(["redis://f:p@a:7000", "redis://f:p@b", "redis://f:p@a:7000"])
        #expect(options.deployment == .cluster([RedisEndpoint("a", 7_000), RedisEndpoint("b", 6_379)]))
        #expect(options.user == "f" && options.password == "p")
    }

    @Test("are read from the URLs of sentinels, whose login is not that of the servers")
    func sentinel() throws {
        let options = try RedisOptions.sentinel(master: "cache", ["redis://s:p@a", "redis://s:p@b:1"])
        let sentinels = [RedisEndpoint("a", 26_379), RedisEndpoint("b", 1)]
        #expect(options.deployment == .sentinel(master: "cache", sentinels))
        #expect(options.sentinelUser == "s" && options.sentinelPassword == "p")
        #expect(options.user == nil && options.password == nil)
    }

    @Test(
        "are not read from another URL, and the error repeats no password",
        arguments: [
            "", "a:7000", "http://a", "redis://", "redis:a", "redis://a:70000", "redis://a/x", "redis://a/-1",
            "redis://a/1?b=c", "redis://a#b", "redis://user@a", "redis://user:s3cret@a b",
        ]
    )
    func mistakes(url: String) {
        let error = #expect(throws: TierError.self) { try RedisOptions.server(url) }
        #expect(error?.code == .misconfigured)
        #expect(error?.message.contains("s3cret") == false)
    }

    @Test("with a user and no password make no tier, also for sentinels")
    func userWithoutPassword() throws {
        var options = RedisOptions(host: "cache.internal")
        options.user = "fleet"
        let error = #expect(throws: TierError.self) { try RedisTier(options) }
        #expect(error?.code == .misconfigured)
        #expect(error?.message.contains("fleet") == true)
        options.password = "s3cret"
        _ = try RedisTier(options)
        var sentinels = try RedisOptions.sentinel(master: "cache", ["redis://a"])
        sentinels.sentinelUser = "guard"
        #expect(throws: TierError.self) { try RedisTier(sentinels) }
    }

    @Test("of a server without a host, or with a port that does not exist, make no tier")
    func impossibleServers() {
        for (host, port) in [("", 6379), ("cache.internal", 0), ("cache.internal", 65_536)] {
            let error = #expect(throws: TierError.self) { try RedisTier(RedisOptions(host: host, port: port)) }
            #expect(error?.code == .misconfigured)
        }
    }

    @Test(
        "are not read from URLs that contradict each other",
        arguments: [
            [], ["redis://a", "rediss://b"], ["redis://:p@a", "redis://b"], ["redis://u:p@a", "redis://v:p@b"],
            ["redis://a/1", "redis://b/1"],
        ]
    )
    func contradictions(urls: [String]) {
        let error = #expect(throws: TierError.self) { try RedisOptions.cluster(urls) }
        #expect(error?.code == .misconfigured)
    }

    @Test("of a cluster or a sentinel exclude a database where it has no meaning")
    func databases() throws {
        var options = try RedisOptions.cluster(["redis://a"])
        options.database = 1
        let misconfigured = options
        #expect(throws: TierError.self) { try RedisTier(misconfigured) }
        #expect(throws: TierError.self) { try RedisOptions.sentinel(master: "cache", ["redis://a/1"]) }
    }
}
#endif
