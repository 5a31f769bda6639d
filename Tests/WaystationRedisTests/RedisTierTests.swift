#if Redis
import Foundation
import Synchronization
import Testing
import WaystationRedis
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@Suite("A tier on Redis")
struct RedisTierTests {
    private static let user = """
        user default off
        user fleet on >s3cret ~waystation:* &waystation:* -@all +get +set +del +pexpire +eval +exists +incr +time \
        +publish +subscribe +ping +hello +select +role +wait
        """

    /// The tier of a server, with time for a busy machine.
    private func tier(
        of server: RedisServer,
        _ change: (inout RedisOptions) -> Void = { _ in }
    ) throws -> RedisTier {
        var options = RedisOptions(host: "127.0.0.1", port: server.port)
        options.connectTimeout = .seconds(60)
        change(&options)
        return try RedisTier(options)
    }

    private var later: ContinuousClock.Instant { .now + .seconds(60) }

    @Test("is a tier that machines can share")
    func plain() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let tier = try tier(of: server) { $0.database = 3 }
        try await SharedTierConformance(of: tier).check()
        _ = try await tier.get([TierKey("waystation:a")], until: later)
        let clients = try server.run("client", "list").split(separator: "\n")
        #expect(clients.first { $0.contains(" db=3 ") }?.contains(" resp=3") == true)
        withExtendedLifetime(tier) {}
    }

    @Test("is one over TLS, for a user with few rights")
    func encrypted() async throws {
        let certificates = try Certificates()
        let server = try RedisServer(certificates: certificates, directives: Self.user)
        defer { server.stop() }
        var tls = RedisOptions.TLS()
        tls.trustedRootsPath = certificates.path("ca.pem")
        let tier = try tier(of: server) { [tls] in
            $0.tls = tls
            ($0.user, $0.password) = ("fleet", "s3cret")
        }
        try await SharedTierConformance(of: tier).check()
        // An authority that is not trusted.
        let other = try self.tier(of: server) {
            $0.tls = RedisOptions.TLS()
            $0.tls?.trustedRootsPath = certificates.path("other.pem")
        }
        let error = await #expect(throws: TierError.self) {
            try await other.get([TierKey("waystation:a")], until: later)
        }
        #expect(error?.code == .unreachable)
    }

    @Test(
        "reads no file of TLS that is over the limit, and the error names it and the limit",
        arguments: [
            \RedisOptions.TLS.trustedRootsPath, \.certificatePath, \.privateKeyPath,
        ]
    )
    func hugeFile(option: any WritableKeyPath<RedisOptions.TLS, String?> & Sendable) async throws {
        let directory = try TemporaryDirectory()
        let file = directory.url.appending(path: "huge.pem")
        try SparseFile.make(at: file)
        var options = RedisOptions(host: "127.0.0.1")
        options.tls = RedisOptions.TLS()
        options.tls?[keyPath: option] = file.path
        let error = #expect(throws: (any Error).self) { try RedisTier(options) }
        let text = "\(try #require(error))"
        #expect(text.contains("huge.pem"), "\(text)")
        #expect(text.contains("68719476736 bytes, more than the 16777216 bytes"), "\(text)")
    }

    @Test("is one by RESP2, with a server that has no RESP3")
    func older() async throws {
        let server = try RedisServer(directives: "rename-command HELLO \"\"\nrequirepass s3cret")
        defer { server.stop() }
        try await SharedTierConformance(of: tier(of: server) { $0.password = "s3cret" }).check()
    }

    @Test("stores a value with a lifetime of any length")
    func longLifetime() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let (tier, key) = (try tier(of: server), TierKey("waystation:a"))
        for lifetime in [Duration.seconds(Int64.max), .seconds(Int64.max / 1_000)] {
            try await tier.put(Data("a".utf8), at: key, for: lifetime, until: later)
            #expect(try await tier.get([key], until: later) == [Data("a".utf8)])
            try await tier.remove(key, ifEqualTo: nil, until: later)
        }
        // A lifetime that is over already.
        try await tier.put(Data("a".utf8), at: key, for: .seconds(Int64.min), until: later)
        #expect(try await eventually { try await tier.get([key], until: later) == [nil] })
    }

    @Test("sends commands without waiting for the replies to those before")
    func unanswered() async throws {
        let arrived = Mutex(0)
        // All replies come after the third command.
        let server = try await ScriptedRedis { _ in
            arrived.withLock { count in
                count += 1
                return count < 3 ? nil : "$1\r\na\r\n$1\r\nb\r\n$1\r\nc\r\n"
            }
        }
        let tier = try RedisTier(RedisOptions(host: "127.0.0.1", port: server.port))
        let values = try await withThrowingTaskGroup(of: [Data?].self) { group in
            for number in 0..<3 {
                group.addTask { try await tier.get([TierKey("waystation:\(number)")], until: later) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(values) == Set(["a", "b", "c"].map { Data($0.utf8) }))
        try await server.stop()
    }

    @Test("is one by RESP2, with a server that has no HELLO and demands a login for it, as Valkey does")
    func withoutGreeting() async throws {
        let server = try await ScriptedRedis(greets: false) { words in
            switch words {
            case ["AUTH", "s3cret"]: "+OK\r\n"
            case ["GET", "waystation:a"]: "$1\r\na\r\n"
            default: "-NOAUTH Authentication required.\r\n"
            }
        }
        var options = RedisOptions(host: "127.0.0.1", port: server.port)
        options.password = "s3cret"
        #expect(try await RedisTier(options).get([TierKey("waystation:a")], until: later) == [Data("a".utf8)])
        options.password = nil
        let refused = try RedisTier(options)
        let error = await #expect(throws: TierError.self) {
            try await refused.get([TierKey("waystation:a")], until: later)
        }
        #expect(error?.code == .refused)
        #expect(server.commands.count { $0.first == "GET" } == 1, "only the tier with the password asks for values")
        try await server.stop()
    }

    @Test("is refused without a password, and with a wrong one", arguments: [nil, "wrong"] as [String?])
    func refused(password: String?) async throws {
        let server = try RedisServer(directives: "requirepass s3cret")
        defer { server.stop() }
        let tier = try tier(of: server) { $0.password = password }
        let error = await #expect(throws: TierError.self) {
            try await tier.get([TierKey("waystation:a")], until: later)
        }
        #expect(error?.code == .refused)
    }

    @Test("fails at the deadline while the server's process is stopped, and works again after it")
    func stopped() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let tier = try tier(of: server)
        let key = TierKey("waystation:a")
        try await tier.put(Data("a".utf8), at: key, for: .seconds(600), until: later)
        server.pause()
        let error = await #expect(throws: TierError.self) {
            try await tier.get([key], until: .now + .milliseconds(50))
        }
        #expect(error?.code == .late)
        await SharedTierConformance(of: tier).checkDeadlines()
        server.resume()
        #expect(await eventually { (try? await tier.get([key], until: later)) == [Data("a".utf8)] })
    }

    @Test("fails a late call alone while one with a much longer limit waits, and otherwise ends the connection")
    func shortAndLongLimits() async throws {
        let server = try await ScriptedRedis { _ in nil }
        let tier = try RedisTier(RedisOptions(host: "127.0.0.1", port: server.port))
        var events = server.events.makeAsyncIterator()
        async let long = tier.get([TierKey("waystation:long")], until: later)
        #expect(await events.next() == "GET")
        let error = await #expect(throws: TierError.self) {
            try await tier.get([TierKey("waystation:short")], until: .now + .milliseconds(20))
        }
        #expect(error?.code == .late)
        // Each command that has arrived gets the reply. On a busy machine, the deadline of the second may have passed before
        // it was written.
        server.answer("GET", "$1\r\na\r\n")
        #expect(try await long == [Data("a".utf8)])
        await #expect(throws: TierError.self) {
            try await tier.get([TierKey("waystation:short")], until: .now + .milliseconds(20))
        }
        while let event = await events.next(), event != "closed" { #expect(event == "GET") }
        try await server.stop()
    }

    @Test("is asked on its own thread, and without a timer beside its own")
    func thread() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let tier = try tier(of: server)
        let key = TierKey("waystation:a")
        let threads = try await Task(executorPreference: tier.executor) {
            let before = pthread_self()
            _ = try await tier.get([key], until: later)
            return (before, pthread_self())
        }.value
        #expect(threads.0 == threads.1)
        #expect(threads.0 != pthread_self())

        let timers = Mutex(0)
        func guarded(_ tier: any SharedTier) -> GuardedTier {
            GuardedTier(
                tier,
                limit: .seconds(60),
                now: { .now },
                schedule: { _, _ in timers.withLock { $0 += 1 } },
                report: { _ in }
            )
        }
        #expect(await guarded(tier).get([key]) == [nil])
        #expect(timers.withLock(\.self) == 0)
        #expect(await guarded(InMemoryTier()).get([key]) == [nil])
        #expect(timers.withLock(\.self) == 1)
    }

    @Test("fails at once when nothing listens, and connects when a server does")
    func absent() async throws {
        let server = try RedisServer()
        let tier = try tier(of: server)
        server.stop()
        let error = await #expect(throws: TierError.self) {
            try await tier.get([TierKey("waystation:a")], until: later)
        }
        #expect(error?.code == .unreachable)
    }

    @Test("closes the connection of a channel that was made after the deadline")
    func lateSubscription() async throws {
        let server = try await ScriptedRedis(greets: false) { _ in nil }
        let tier = try RedisTier(RedisOptions(host: "127.0.0.1", port: server.port))
        await #expect(throws: TierError.self) {
            _ = try await tier.subscribe(to: TierKey("channel"), until: .now + .milliseconds(1))
        }
        var next: String?
        for await event in server.events {
            if event == "HELLO" { server.answer("HELLO", "%0\r\n") }
            next = event
            if event != "HELLO" { break }
        }
        #expect(next == "closed")
    }

    @Test("has a channel that ends with its connection, also when the server no longer answers")
    func lostChannel() async throws {
        let server = try RedisServer()
        let tier = try tier(of: server) { $0.keepaliveInterval = .milliseconds(200) }
        let silent = try await tier.subscribe(to: TierKey("waystation:c"), until: later)
        server.pause()
        await #expect(throws: TierError.self) { for try await _ in silent.messages {} }
        server.resume()
        var lost = silent
        #expect(
            await eventually {
                guard let made = try? await tier.subscribe(to: TierKey("waystation:c"), until: later) else {
                    return false
                }
                lost = made
                return true
            }
        )
        #expect(lost.lastNumber == silent.lastNumber)
        server.stop()
        await #expect(throws: TierError.self) { for try await _ in lost.messages {} }
    }

    @Test("that loses all values gives a channel a number that it never had")
    func lostNumbers() async throws {
        let server = try RedisServer()
        defer { server.stop() }
        let tier = try tier(of: server)
        let channel = TierKey("waystation:c")
        var last: UInt64 = 0
        for _ in 0..<3 {
            let number = try await tier.publish(Data(), on: channel, isDurable: true, until: later)
            #expect(number > last)
            last = try await tier.publish(Data(), on: channel, isDurable: true, until: later)
            #expect(last == number + 1)
            try await tier.remove(TierKey(channel.name + ":number"), ifEqualTo: nil, until: later)
        }
    }

    @Test("that is full and may evict any value loses values, and stores the next")
    func full() async throws {
        let server = try RedisServer(directives: "maxmemory 4mb\nmaxmemory-policy allkeys-random")
        defer { server.stop() }
        let tier = try tier(of: server)
        let value = Data(count: 64 << 10)
        let keys = (0..<200).map { TierKey("waystation:\($0)") }
        for key in keys { try await tier.put(value, at: key, for: .seconds(600), until: later) }
        let kept = try await tier.get(keys, until: later).compactMap(\.self)
        #expect(kept.count < 100)
        #expect(kept.allSatisfy { $0 == value })
    }

    @Test("that is full and evicts nothing refuses new values, and still answers")
    func refusing() async throws {
        let server = try RedisServer(directives: "maxmemory 4mb\nmaxmemory-policy noeviction")
        defer { server.stop() }
        let tier = try tier(of: server)
        var error: TierError?
        for number in 0..<200 where error == nil {
            do {
                try await tier.put(
                    Data(count: 64 << 10),
                    at: TierKey("waystation:\(number)"),
                    for: .seconds(600),
                    until: later
                )
            } catch let refusal as TierError {
                error = refusal
            }
        }
        #expect(error?.code == .refused)
        #expect(try await tier.get([TierKey("waystation:0")], until: later) == [Data(count: 64 << 10)])
    }

    @Test("runs many calls at once on one connection")
    func pipelining() async throws {
        // Tiers of other tests whose server had the same port before may connect too, but not as this user.
        let server = try RedisServer(directives: "user pipelining on >s3cret ~waystation:* &waystation:* +@all")
        defer { server.stop() }
        let tier = try tier(of: server) { ($0.user, $0.password) = ("pipelining", "s3cret") }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<500 {
                group.addTask {
                    let (key, value) = (TierKey("waystation:\(number)"), Data("\(number)".utf8))
                    try await tier.put(value, at: key, for: .seconds(600), until: later)
                    #expect(try await tier.get([key], until: later) == [value])
                }
            }
            try await group.waitForAll()
        }
        let clients = try server.run("client", "list").split(separator: "\n")
        #expect(clients.count { $0.contains(" user=pipelining ") } == 1)
    }
}
#endif
