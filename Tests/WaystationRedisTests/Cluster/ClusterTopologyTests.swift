#if Redis
import NIOCore
import Testing
import WaystationStorage

@testable import WaystationRedis

@Suite("The slots of a cluster")
struct ClusterTopologyTests {
    private func slot(_ number: Int) throws -> HashSlot { try #require(HashSlot(number)) }

    private func server(_ host: RESPValue, _ port: Int64, _ further: RESPValue...) -> RESPValue {
        .list([host, .number(port), .string("id")] + further)
    }

    @Test("are read from the reply of Redis 7, with replicas and host names")
    func reply() throws {
        let reply = RESPValue.list([
            .list([
                .number(0), .number(5_460), server(.string("10.0.0.1"), 7_000, .strings("hostname", "a.internal")),
                server(.string("10.0.0.4"), 7_003, .list([])),
            ]),
            .list([.number(5_461), .number(5_461), server(.string("10.0.0.2"), 7_001, .list([]))]),
        ])
        let topology = try ClusterTopology(reply, from: "10.0.0.1")
        #expect(topology.owner(of: try slot(0)) == RedisEndpoint("10.0.0.1", 7_000))
        #expect(topology.owner(of: try slot(5_460)) == RedisEndpoint("10.0.0.1", 7_000))
        #expect(topology.owner(of: try slot(5_461)) == RedisEndpoint("10.0.0.2", 7_001))
        #expect(topology.owner(of: try slot(5_462)) == nil)
        #expect(topology.primaries == [RedisEndpoint("10.0.0.1", 7_000), RedisEndpoint("10.0.0.2", 7_001)])
        #expect(topology.replicas == [RedisEndpoint("10.0.0.4", 7_003)])
        #expect(topology.names == [RedisEndpoint("10.0.0.1", 7_000): "a.internal"])
    }

    @Test("are read from the reply of Redis 6, in which servers have no further addresses")
    func older() throws {
        let reply = RESPValue.list([
            .list([.number(0), .number(16_383), .list([.string("10.0.0.1"), .number(7_000)])])
        ])
        let topology = try ClusterTopology(reply, from: "x")
        #expect(topology.owner(of: try slot(16_383)) == RedisEndpoint("10.0.0.1", 7_000))
    }

    @Test(
        "belong to the address that was asked, if the server does not know its own",
        arguments: [RESPValue.null, .string("")]
    )
    func unknownAddress(host: RESPValue) throws {
        let reply = RESPValue.list([.list([.number(0), .number(1), server(host, 7_000)])])
        let topology = try ClusterTopology(reply, from: "cache.internal")
        #expect(topology.owner(of: try slot(1)) == RedisEndpoint("cache.internal", 7_000))
    }

    @Test("belong to the further address of a server without a host name, or to none")
    func unknownName() throws {
        let reply = RESPValue.list([
            .list([.number(0), .number(1), server(.string("?"), 7_000, .strings("ip", "10.0.0.1"))]),
            .list([.number(2), .number(3), server(.string("?"), 7_001, .list([]))]),
            .list([.number(4), .number(5), server(.string("10.0.0.3"), 0)]),
        ])
        let topology = try ClusterTopology(reply, from: "x")
        #expect(topology.owner(of: try slot(0)) == RedisEndpoint("10.0.0.1", 7_000))
        #expect(topology.owner(of: try slot(2)) == nil)
        #expect(topology.owner(of: try slot(4)) == nil)
    }

    @Test("are read when they are in thousands of runs, each with two replicas and host names")
    func fragmented() throws {
        let servers = ["a", "b", "c"].map { name in
            "*4\r\n$8\r\n10.0.0.1\r\n:7000\r\n$1\r\n\(name)\r\n*2\r\n$8\r\nhostname\r\n$1\r\n\(name)\r\n"
        }
        let runs = (0..<4_096).map { "*5\r\n:\(4 * $0)\r\n:\(4 * $0 + 3)\r\n" + servers.joined() }
        let connector = try RedisConnector(.cluster(["redis://10.0.0.1"]))
        var parser = RESPParser(limits: connector.limits)
        parser.append(ByteBuffer(string: "*\(runs.count)\r\n" + runs.joined()))
        let topology = try ClusterTopology(#require(try parser.next()), from: "x")
        #expect(topology.owner(of: try slot(16_383)) == RedisEndpoint("10.0.0.1", 7_000))
    }

    @Test("move one by one")
    func moves() throws {
        let (first, second) = (RedisEndpoint("a", 1), RedisEndpoint("b", 2))
        var topology = ClusterTopology([.init(slots: 0...16_383, primary: first, replicas: [])])
        topology.move(try slot(7), to: second)
        #expect(topology.owner(of: try slot(7)) == second)
        #expect(topology.owner(of: try slot(8)) == first)
        #expect(topology.servers == [first, second])
    }

    @Test(
        "are not read from another reply",
        arguments: [
            .null, .number(1), .list([.number(1)]), .list([.list([.number(0), .number(1)])]),
            .list([.list([.number(1), .number(0), .list([.string("a"), .number(1)])])]),
            .list([.list([.number(0), .number(16_384), .list([.string("a"), .number(1)])])]),
            .list([.list([.number(-1), .number(0), .list([.string("a"), .number(1)])])]),
            .list([.list([.number(0), .number(1), .list([.string("a"), .number(65_536)])])]),
            .list([.list([.number(0), .number(1), .list([.string("a")])])]),
            .error("ERR This instance has cluster support disabled"),
        ] as [RESPValue]
    )
    func malformed(reply: RESPValue) {
        #expect(throws: TierError.self) { try ClusterTopology(reply, from: "x") }
    }
}

@Suite("Refusals of a cluster's servers")
struct ClusterRefusalTests {
    @Test("name the server to ask, also by an IPv6 address and with no host")
    func targets() throws {
        let slot = try #require(HashSlot(3_999))
        let texts = [
            ("MOVED 3999 127.0.0.1:6381", ClusterRefusal.moved(slot, RedisEndpoint("127.0.0.1", 6_381))),
            ("MOVED 3999 ::1:6381", .moved(slot, RedisEndpoint("::1", 6_381))),
            ("MOVED 3999 :6381", .moved(slot, RedisEndpoint("asked", 6_381))),
            ("MOVED 3999 ?:6381", .moved(slot, nil)), ("MOVED 3999 127.0.0.1", .moved(slot, nil)),
            ("MOVED 3999 a:0", .moved(slot, nil)), ("MOVED 3999 a:65536", .moved(slot, nil)),
            ("ASK 3999 b.internal:6381", .ask(RedisEndpoint("b.internal", 6_381))),
            ("ASK 3999 ?:6381", .ask(nil)),
        ]
        for (text, refusal) in texts { #expect(ClusterRefusal(text, from: "asked") == refusal) }
    }

    @Test("say that the cluster cannot answer now, or are others")
    func others() {
        #expect(ClusterRefusal("TRYAGAIN Multiple keys request during rehashing of slot", from: "x") == .tryAgain)
        for text in [
            "CLUSTERDOWN Hash slot not served", "LOADING Redis is loading", "MASTERDOWN Link with MASTER is down",
        ] {
            #expect(ClusterRefusal(text, from: "x") == .down)
        }
        for text in ["", "ERR no", "MOVED", "MOVED 1", "MOVED x a:1", "ASK 16384 a:1", "OOM command not allowed"] {
            #expect(ClusterRefusal(text, from: "x") == .other)
        }
    }
}
#endif
