#if Redis
import Testing
import WaystationStorage

@testable import WaystationRedis

@Suite("A poll of sentinels")
struct SentinelPollTests {
    private let old = SentinelReport(primary: RedisEndpoint("old", 1), epoch: 3)
    private let new = SentinelReport(primary: RedisEndpoint("new", 2), epoch: 4)
    private let failure = Result<SentinelReport, TierError>.failure(TierError(.unreachable, "gone"))

    @Test("ends when most of all sentinels agree")
    func majority() {
        var poll = SentinelPoll(of: 3, knowing: nil)
        #expect(poll.take(.success(new)) == nil)
        #expect(poll.take(.success(new)) == .success(new))
    }

    @Test("believes the newest knowledge, not that of a sentinel that was cut off")
    func newest() {
        var poll = SentinelPoll(of: 3, knowing: nil)
        #expect(poll.take(.success(old)) == nil)
        #expect(poll.take(.success(new)) == nil)
        #expect(poll.take(.success(old)) == .success(new))
    }

    @Test("keeps what is known, if the only sentinel that answers knows less")
    func older() {
        var poll = SentinelPoll(of: 3, knowing: new)
        #expect(poll.take(failure) == nil)
        #expect(poll.take(.success(old)) == nil)
        #expect(poll.take(failure) == .success(new))
    }

    @Test("believes most sentinels, if they were set up anew and count from the beginning")
    func restarted() {
        var poll = SentinelPoll(of: 3, knowing: new)
        #expect(poll.take(.success(old)) == nil)
        #expect(poll.take(.success(old)) == .success(old))
    }

    @Test("does not wait for the others, once they have had their time")
    func urgent() {
        var poll = SentinelPoll(of: 3, knowing: nil)
        #expect(poll.hurry() == nil)
        #expect(poll.take(failure) == nil)
        #expect(poll.take(.success(old)) == .success(old))
        var begun = SentinelPoll(of: 3, knowing: new)
        #expect(begun.take(.success(old)) == nil)
        #expect(begun.hurry() == .success(new))
    }

    @Test("takes the answer of one sentinel, once no other can come, and fails without any")
    func few() {
        var poll = SentinelPoll(of: 2, knowing: nil)
        #expect(poll.take(failure) == nil)
        #expect(poll.take(.success(old)) == .success(old))
        var silent = SentinelPoll(of: 1, knowing: nil)
        #expect(silent.take(failure) == failure)
    }
}

@Suite("What sentinels and servers report")
struct SentinelReportTests {
    @Test("is the address by one command, and the number of the configuration by the other")
    func report() throws {
        let master = RESPValue.strings("name", "cache", "ip", "10.0.0.1", "config-epoch", "7")
        let report = try SentinelReport([master, .strings("10.0.0.2", "6380")])
        #expect(report == SentinelReport(primary: RedisEndpoint("10.0.0.2", 6_380), epoch: 7))
    }

    @Test(
        "has no meaning in another form",
        arguments: [
            [], [.strings("config-epoch", "7")], [.strings("config-epoch", "7"), .null],
            [.strings("config-epoch", "7"), .strings("a", "0")], [.strings("config-epoch", "7"), .strings("", "1")],
            [.strings("config-epoch", "x"), .strings("a", "1")], [.strings("config-epoch"), .strings("a", "1")],
            [.error("ERR No such master with that name"), .null],
        ] as [[RESPValue]]
    )
    func malformed(replies: [RESPValue]) {
        #expect(throws: TierError.self) { try SentinelReport(replies) }
    }

    @Test("is the role of a server, with the replicas that follow it")
    func roles() {
        let replica = RESPValue.strings("127.0.0.1", "6380", "14")
        #expect(ServerRole(.list([.string("master"), .number(14), .list([replica])])) == .primary(replicas: 1))
        #expect(ServerRole(.list([.string("master"), .number(14), .list([])])) == .primary(replicas: 0))
        #expect(ServerRole(.list([.string("slave"), .string("127.0.0.1"), .number(1)])) == .other)
        for reply in [RESPValue.null, .list([]), .strings("master"), .error("NOPERM")] {
            #expect(ServerRole(reply) == .other)
        }
    }
}

@Suite("The route of commands to a primary")
struct PrimaryRouteTests {
    private let error = TierError(.unreachable, "gone")

    @Test("ends with replies, and fails with an error")
    func ends() {
        var route = PrimaryRoute()
        #expect(route.next(after: .success([.number(1)])) == .end([.number(1)]))
        #expect(route.next(after: .success([.error("OOM x")])) == .fail(TierError(refusal: "OOM x")))
        #expect(route.next(after: .failure(RedisFailure(error, mayHaveRun: true))) == .fail(error))
    }

    @Test("looks for the primary again when the server cannot be reached, or has become a replica")
    func searches() {
        var route = PrimaryRoute()
        #expect(route.next(after: .failure(RedisFailure(error, mayHaveRun: false))) == .findPrimary)
        let refusal = "READONLY You can't write against a read only replica."
        #expect(route.next(after: .success([.null, .error(refusal)])) == .leaveServer)
        #expect(route.next(after: .success([.error(refusal)])) == .fail(TierError(refusal: refusal)))
    }
}
#endif
