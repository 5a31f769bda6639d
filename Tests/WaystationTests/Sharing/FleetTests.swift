import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationHTTP
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("Machines that share a tier", .timeLimit(.minutes(10)))
struct FleetTests {
    @Test("make one trip for identical requests, and all get its response")
    func oneTrip() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]).held(at: gate) }
        var machines: [FleetFixture.Machine] = []
        for _ in 0..<4 { machines.append(try await fleet.machine()) }
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for machine in machines { group.addTask { try await fleet.load(on: machine).body } }
            // The lease and what waits for it.
            #expect(await eventually { fleet.trips == 1 && machines.filter(\.waits).count == 3 })
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies == Array(repeating: "page", count: 4))
        #expect(fleet.trips == 1)
    }

    @Test("that all start with empty disks and load the same URLs make one trip for each URL")
    func coldStart() async throws {
        // The tier's clock stands still, so that no lease ends early, however slow the machine is.
        let now = ContinuousClock.now
        let fleet = try FleetFixture(tier: InMemoryTier { now }) {
            .ok("page \($0.path)", fields: ["Cache-Control": "max-age=600"])
        }
        var machines: [FleetFixture.Machine] = []
        for _ in 0..<8 { machines.append(try await fleet.machine()) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for machine in machines {
                for worker in 0..<8 {
                    group.addTask {
                        for number in stride(from: worker, to: 100, by: 8) {
                            let got = try await fleet.load("/\(number)", on: machine)
                            #expect(got.body == "page /\(number)")
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(fleet.trips == 100)
    }

    @Test("make one trip also while they do not hear of each other, and look again instead")
    func deaf() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]).held(at: gate) }
        let tier = AlteredTier(tier: fleet.tier, subscribes: false)
        var machines: [FleetFixture.Machine] = []
        for _ in 0..<4 { machines.append(try await fleet.machine(isFollowing: false) { $0.tier = tier }) }
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for machine in machines { group.addTask { try await fleet.load(on: machine).body } }
            #expect(await eventually { fleet.trips > 1 || machines.filter(\.waits).count == 3 })
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(bodies == Array(repeating: "page", count: 4))
        #expect(fleet.trips == 1)
    }

    @Test("do not get an invalidated response from a tier that has an earlier state again")
    func setBack() async throws {
        let count = Atomic(0)
        let fleet = try FleetFixture { _ in
            let number = count.add(1, ordering: .relaxed).newValue
            return .ok("page \(number)", fields: ["Cache-Control": "max-age=600"])
        }
        // The earlier state may contain a lease that no machine ends any more, so no load waits for one.
        let first = try await fleet.machine { $0.patience = .zero }
        let second = try await fleet.machine { $0.patience = .zero }
        #expect(try await fleet.load(on: first).body == "page 1")
        #expect(await fleet.entries(1))
        let snapshot = fleet.tier.snapshot
        try await first.cache.removeAll()
        fleet.tier.restart(from: snapshot)
        fleet.tier.disconnect()
        // Until the second machine notices that the tier is another one, it may answer from the earlier state.
        #expect(try await eventually { try await fleet.load(on: second).body == "page 2" })
    }

    @Test("look into the tier again when their own responses are invalidated during a look-up")
    func invalidatedDuringLookUp() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        try await fleet.load(on: try await fleet.machine())
        #expect(await fleet.entries(1))
        let invalidate = Mutex<(@Sendable () -> Void)?>(nil)
        let tier = AlteredTier(tier: fleet.tier) { invalidate.withLock { $0.take() }?() }
        let machine = try await fleet.machine { $0.tier = tier }
        invalidate.withLock { $0 = { machine.cache.store.invalidate(.all) } }
        #expect(try await fleet.load(on: machine).isShared)
        #expect(invalidate.withLock { $0 == nil })
        #expect(try await fleet.load(on: machine).isLocal)
        #expect(fleet.trips == 1)
    }

    @Test("share a response that they may not keep, because all of theirs were invalidated while it was on its way")
    func invalidatedOnItsWay() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]).held(at: gate) }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        async let load = fleet.load(on: first)
        #expect(await eventually { fleet.trips == 1 })
        first.cache.store.invalidate(.all)
        gate.open()
        #expect(try await load.body == "page")
        #expect(await fleet.entries(1))
        #expect(try await fleet.load(on: second).isShared)
        #expect(try await fleet.load(on: first).isShared, "the response was not stored on the machine itself")
        #expect(fleet.trips == 1)
    }

    @Test("do not wait for a response that is not shared, or for a trip that failed")
    func failedTrips() async throws {
        let counter = Counter()
        let fleet = try FleetFixture { request in
            request.path == "/private"
                ? .ok("mine", fields: ["Cache-Control": "private"])
                : counter.next() == 1 ? .status(500) : .ok("page", fields: ["Cache-Control": "max-age=600"])
        }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        for target in ["/private", "/failing"] {
            async let one = fleet.load(target, on: first)
            async let other = fleet.load(target, on: second)
            _ = try await (one, other)
        }
        #expect(try await fleet.load("/failing", on: second).body == "page")
    }

    @Test("ask the origin at once for a response that is not shared, also before its body has ended")
    func unshared() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fleet = try FleetFixture { request in
            request.order < 2
                ? .stream([.bytes(Data("a".utf8)), .wait(gate)], fields: ["Cache-Control": "no-store"])
                : .ok("b", fields: request.order < 3 ? ["Cache-Control": "no-store"] : ["Cache-Control": "max-age=60"])
        }
        // No machine asks the origin because its patience has ended.
        let first = try await fleet.machine { $0.patience = .days(1) }
        let second = try await fleet.machine { $0.patience = .days(1) }
        async let one = fleet.load(on: first)
        #expect(await eventually { fleet.trips == 1 })
        async let other = fleet.load(on: second)
        #expect(await eventually { fleet.trips == 2 }, "the second machine does not wait for the first one's body")
        gate.open()
        _ = try await (one, other)
        let reads = fleet.tier.reads
        #expect(try await fleet.load(on: first).body == "b")
        #expect(fleet.tier.reads == reads, "the tier is not asked for what was not shared a moment ago")
        // A response that can be shared: the next load asks the tier again.
        try await fleet.load(on: first)
        #expect(fleet.tier.reads == reads)
        try await first.cache.removeAll()
        try await fleet.load(on: first)
        #expect(fleet.tier.reads > reads)
        #expect(await fleet.entries(1))
    }

    @Test("share the response after one whose status says nothing about it", arguments: [401, 403, 416, 429, 503])
    func statusOfOneRequest(status: Int) async throws {
        let fleet = try FleetFixture { request in
            request.order == 0 ? .status(status) : .ok("page", fields: ["Cache-Control": "max-age=600"])
        }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first)
        try await fleet.load(on: first)
        #expect(await fleet.entries(1), "the first good response is shared")
        #expect(try await fleet.load(on: second).isShared)
    }

    @Test("do not wait for the end of a body that has turned out to be too large to be shared")
    func largeBody() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fleet = try FleetFixture { _ in
            .stream([.bytes(Data(count: 2_000)), .wait(gate)], fields: ["Cache-Control": "max-age=600"])
        }
        func machine() async throws -> FleetFixture.Machine {
            try await fleet.machine {
                $0.patience = .days(1)
                $0.maximumEntrySize = .bytes(1_000)
            }
        }
        let (first, second) = (try await machine(), try await machine())
        async let one = fleet.load(on: first)
        #expect(await eventually { fleet.trips == 1 })
        async let other = fleet.load(on: second)
        #expect(await eventually { fleet.trips == 2 })
        gate.open()
        _ = try await (one, other)
        #expect(await fleet.entries(0))
    }

    @Test("do not ask the tier for a response that the origin confirms again and again, and that is not shared")
    func confirmedUnshared() async throws {
        let fleet = try FleetFixture { request in
            request.value(of: "If-None-Match") == nil
                ? .ok("page", fields: ["Cache-Control": "no-cache", "ETag": "\"1\""])
                : .status(304, fields: ["Cache-Control": "no-cache", "ETag": "\"1\""])
        }
        let now = Mutex(ContinuousClock.now)
        let machine = try await fleet.machine { $0.now = { now.withLock(\.self) } }
        try await fleet.load(on: machine)
        // The mark of the first response ends.
        now.withLock { $0 += UnsharedEntries.lifetime }
        try await fleet.load(on: machine)
        let reads = fleet.tier.reads
        try await fleet.load(on: machine)
        #expect(fleet.tier.reads == reads)
        #expect(fleet.trips == 3)
    }

    @Test("share the response to a URL that one of their requests forbids to store")
    func requestNoStore() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first, ["Cache-Control": "no-store"])
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        #expect(try await fleet.load(on: second).isShared)
        #expect(fleet.trips == 2)
    }

    @Test("do not wait for each other with requests for a range, whose responses are not shared")
    func ranges() async throws {
        let gate = try ScriptedOrigin.Gate()
        let fleet = try FleetFixture { request in
            request.value(of: "Range") == nil
                ? .ok("0123456789", fields: ["Cache-Control": "max-age=600"])
                : .status(206, fields: ["Content-Range": "bytes 0-2/10"], body: Data("012".utf8)).held(at: gate)
        }
        // No machine asks the origin because its patience has ended.
        let first = try await fleet.machine { $0.patience = .days(1) }
        let second = try await fleet.machine { $0.patience = .days(1) }
        async let one = fleet.load(on: first, ["Range": "bytes=0-2"])
        async let other = fleet.load(on: second, ["Range": "bytes=0-2"])
        #expect(await eventually { fleet.trips == 2 })
        gate.open()
        #expect(try await [one.body, other.body] == ["012", "012"])
        try await fleet.load(on: first)
        #expect(await fleet.entries(1), "the whole response is shared nevertheless")
        let part = try await fleet.load(on: second, ["Range": "bytes=4-5"])
        #expect(part.body == "45" && part.isShared)
    }

    @Test("leave no root in the tier for long that has no response")
    func rootLifetimes() async throws {
        let now = Mutex(ContinuousClock.now)
        let fleet = try FleetFixture(tier: InMemoryTier { now.withLock(\.self) }) { request in
            .ok("page", fields: ["Cache-Control": request.path == "/shared" ? "max-age=86400" : "no-store"])
        }
        let machine = try await fleet.machine()
        for number in 0..<10 { try await fleet.load("/\(number)", on: machine) }
        #expect(fleet.tier.values.count >= 12)
        now.withLock { $0 += .seconds(3_601) }
        #expect(fleet.tier.values.isEmpty)
        try await fleet.load("/shared", on: machine)
        #expect(await fleet.entries(1))
        // The lease ends after the roots have got their new lifetime.
        #expect(await eventually { fleet.tier.values.count == 4 })
        now.withLock { $0 += .seconds(3_601) }
        #expect(fleet.tier.values.count == 4)
    }

    @Test("wait no longer than their patience for a machine that does not answer")
    func patience() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        let timers = ManualClock()
        let machine = try await fleet.machine { $0.schedule = timers.schedule }
        // A machine that has died with its lease.
        let request = SharedRequest(
            key: RequestKey(method: "GET", url: fleet.origin.url("/").absoluteString),
            fields: [:]
        )
        let keys = SharedKeys(secret: FleetFixture.secret)
        let lease = keys.lease(of: keys.entry(request))
        #expect(
            try await fleet.tier.lease(Data("dead".utf8), at: lease, for: .seconds(600), until: .now + .seconds(60))
        )
        async let load = fleet.load(on: machine)
        #expect(await eventually { machine.waits })
        #expect(fleet.trips == 0)
        timers.fire()
        // The lease was not given up, so that the next wait would begin; this machine's time is not over yet.
        try await fleet.tier.remove(lease, ifEqualTo: nil, until: .now + .seconds(60))
        #expect(
            await eventually {
                timers.fire()
                return fleet.trips == 1
            }
        )
        #expect(try await load.body == "page")
    }

    @Test("drop what one of them removes or changes")
    func invalidation() async throws {
        let counter = Counter()
        let fleet = try FleetFixture { request in
            request.method == "POST" ? .ok("done") : .ok("\(counter.next())", fields: ["Cache-Control": "max-age=600"])
        }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        #expect(try await fleet.load(on: second).isShared)
        try await fleet.load(on: first, method: "POST")
        #expect(await eventually { await second.cache.statistics.entries == 0 })
        #expect(try await fleet.load(on: second).body == "2")
        #expect(await fleet.entries(1), "the old entry, which no root leads to, was replaced")
        try await first.cache.removeAll()
        #expect(await eventually { await second.cache.statistics.entries == 0 })
        #expect(try await fleet.load(on: first).body == "3")
    }

    @Test("drop everything when they may have missed an invalidation, and nothing when they have not")
    func missed() async throws {
        let fleet = try FleetFixture { .ok("page \($0.path)", fields: ["Cache-Control": "max-age=600"]) }
        let (_, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load("/a", on: second)
        fleet.tier.disconnect()
        #expect(await eventually { fleet.tier.subscriberCount == 4 })
        #expect(try await fleet.load("/a", on: second).isLocal)
        fleet.tier.behavior = .down
        fleet.tier.disconnect()
        #expect(await eventually { !(second.cache.shared?.arrivals.isFollowed ?? true) })
        fleet.tier.restart()
        fleet.tier.behavior = .working
        #expect(await fleet.event(.missed, on: second) != nil)
        #expect(await second.cache.statistics.entries == 0)
    }

    @Test("remember over their end which invalidations they have seen")
    func restart() async throws {
        let fleet = try FleetFixture { .ok("page \($0.path)", fields: ["Cache-Control": "max-age=600"]) }
        let folder = try TemporaryDirectory()
        let (first, other) = (try await fleet.machine(in: folder), try await fleet.machine())
        try await other.cache.remove(fleet.origin.url("/x"))
        #expect(await eventually { SequenceFile(in: folder.url).read() == 1 })
        try await fleet.load("/a", on: first)
        await fleet.stop(first)
        let second = try await fleet.machine(in: folder)
        #expect(try await fleet.load("/a", on: second).isLocal)
        await fleet.stop(second)
        try await other.cache.remove(fleet.origin.url("/x"))
        let third = try await fleet.machine(in: folder)
        #expect(await fleet.event(.missed, on: third) != nil)
    }

    @Test("do not read from the tier while an invalidation has not reached it, and deliver it later")
    func delayed() async throws {
        let counter = Counter()
        let fleet = try FleetFixture { _ in .ok("\(counter.next())", fields: ["Cache-Control": "max-age=600"]) }
        let first = try await fleet.machine()
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        fleet.tier.behavior = .full
        try await first.cache.remove(fleet.origin.url("/"))
        #expect(await fleet.event(.delayed, on: first) != nil)
        fleet.tier.behavior = .working
        #expect(await eventually { first.cache.shared?.outbox.withLock { $0.isEmpty } ?? false })
        #expect(try await fleet.load(on: try await fleet.machine()).body == "2")
    }

    @Test("have shared their responses and ended their leases when a flush ends")
    func flush() async throws {
        // The tier's clock stands still, so that the lease does not end by itself, however slow the machine is.
        let now = ContinuousClock.now
        let fleet = try FleetFixture(tier: InMemoryTier { now }) { _ in
            .ok("page", fields: ["Cache-Control": "max-age=600"])
        }
        let releases = Mutex<[CheckedContinuation<Void, Never>]>([])
        // The lease is removed after the response was stored.
        let tier = AlteredTier(
            tier: fleet.tier,
            willRemove: { await withCheckedContinuation { release in releases.withLock { $0.append(release) } } }
        )
        let machine = try await fleet.machine { $0.tier = tier }
        try await fleet.load(on: machine)
        let isFlushed = Mutex(false)
        let flush = Task {
            await machine.cache.flush()
            isFlushed.withLock { $0 = true }
        }
        #expect(await eventually { releases.withLock { $0.count } == 1 })
        for _ in 0..<1_000 { await Task.yield() }
        #expect(isFlushed.withLock { !$0 })
        #expect(fleet.tier.values.count == 5, "three roots, the entry and the lease")
        for release in releases.withLock({ $0 }) { release.resume() }
        await flush.value
        #expect(fleet.tier.values.count == 4)
    }

    @Test("send invalidations that outlast a server, and other messages without waiting for its replicas")
    func durability() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        let sent = Mutex<[TierKey: Bool]>([:])
        let tier = AlteredTier(
            tier: fleet.tier,
            willPublish: { channel, isDurable in
                sent.withLock { $0[channel] = isDurable }
            }
        )
        let machine = try await fleet.machine { $0.tier = tier }
        try await fleet.load(on: machine)
        try await machine.cache.removeAll()
        let keys = SharedKeys(secret: FleetFixture.secret)
        #expect(await eventually { sent.withLock { $0.count } == 2 })
        #expect(sent.withLock { $0 } == [keys.invalidations: true, keys.arrivals: false])
    }

    @Test("remove responses and return after their own invalidation, also behind one that is on its way")
    func removalBehindAnother() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        let isHeld = Atomic(true)
        let removals = Atomic(0)
        let releases = Mutex<[CheckedContinuation<Void, Never>]>([])
        let tier = AlteredTier(
            tier: fleet.tier,
            willRemove: {
                removals.add(1, ordering: .sequentiallyConsistent)
                guard isHeld.load(ordering: .sequentiallyConsistent) else { return }
                await withCheckedContinuation { continuation in releases.withLock { $0.append(continuation) } }
            }
        )
        let machine = try await fleet.machine { $0.tier = tier }
        machine.cache.shared?.invalidate(.url("https://a.example/"))
        #expect(await eventually { releases.withLock { $0.count } == 1 })
        let removal = Task {
            try await machine.cache.remove(fleet.origin.url("/"))
            return removals.load(ordering: .sequentiallyConsistent)
        }
        #expect(await eventually { machine.cache.shared?.outbox.withLock { $0.scopes.count } == 2 })
        await machine.cache.flush()
        isHeld.store(false, ordering: .sequentiallyConsistent)
        // A removal that does not wait ends before the first invalidation goes on.
        for _ in 0..<1_000 { await Task.yield() }
        for release in releases.withLock({ $0 }) { release.resume() }
        #expect(try await removal.value == 2)
    }

    @Test("remove responses and return after an attempt, also if the next attempt would begin later")
    func removalDuringPause() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        // These timers never end.
        let timers = ManualClock()
        let machine = try await fleet.machine { $0.schedule = timers.schedule }
        fleet.tier.behavior = .full
        machine.cache.shared?.invalidate(.url("https://a.example/"))
        #expect(await fleet.event(.delayed, on: machine) != nil)
        try await machine.cache.remove(fleet.origin.url("/"))
        #expect(machine.cache.shared?.outbox.withLock { $0.scopes.count } == 2)
        fleet.tier.behavior = .working
        try await machine.cache.remove(fleet.origin.url("/x"))
        #expect(machine.cache.shared?.outbox.withLock { $0.isEmpty } ?? false)
    }
}

extension FleetFixture.Machine {
    /// Whether a load of the machine waits for another machine.
    var waits: Bool { (cache.shared?.arrivals.expectedCount ?? 0) > 0 }
}

/// A tier that fails or delays some calls.
private struct AlteredTier: TierWrapper {
    let tier: InMemoryTier
    /// Whether a subscription can be made; none can in the first moments of a process.
    var subscribes = true
    /// Called when values were read, before they are returned.
    var didRead: @Sendable () -> Void = {}
    /// Called when a message is sent, with its channel.
    var willPublish: @Sendable (TierKey, _ isDurable: Bool) -> Void = { _, _ in }
    /// Called before a value is removed, for whatever reason.
    var willRemove: @Sendable () async -> Void = {}

    func get(_ keys: [TierKey], until deadline: ContinuousClock.Instant) async throws -> [Data?] {
        let values = try await tier.get(keys, until: deadline)
        didRead()
        return values
    }

    func remove(_ key: TierKey, ifEqualTo value: Data?, until deadline: ContinuousClock.Instant) async throws {
        await willRemove()
        try await tier.remove(key, ifEqualTo: value, until: deadline)
    }

    func publish(
        _ message: Data,
        on channel: TierKey,
        isDurable: Bool,
        until deadline: ContinuousClock.Instant
    ) async throws -> UInt64 {
        willPublish(channel, isDurable)
        return try await tier.publish(message, on: channel, isDurable: isDurable, until: deadline)
    }

    func subscribe(
        to channel: TierKey,
        until deadline: ContinuousClock.Instant
    ) async throws -> TierSubscription {
        guard subscribes else { throw TierError(.unreachable, "no subscription") }
        return try await tier.subscribe(to: channel, until: deadline)
    }
}
