import Foundation
import FoundationNetworking
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("A shared tier")
struct SharedTierTests {
    @Test("answers the loads of other machines, which store the response with its age")
    func sharing() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        fleet.clock.advance(by: 100)
        let shared = try await fleet.load(on: second)
        #expect(shared.isShared)
        #expect(shared.body == "page")
        #expect(shared.age == "100")
        // Other calls may still follow, since no load waits for them: the first machine gives its lease back.
        let reads = fleet.tier.reads
        fleet.clock.advance(by: 100)
        let local = try await fleet.load(on: second)
        #expect(local.isLocal)
        #expect(local.age == "200")
        #expect(fleet.tier.reads == reads, "a local hit does not ask the tier")
        #expect(fleet.trips == 1)
        fleet.clock.advance(by: 401)
        try await fleet.load(on: second)
        #expect(fleet.trips == 2, "what is stale is asked for again")
    }

    @Test(
        "is not asked by strategies that ask the origin first",
        arguments: [CacheStrategy.networkFirst(), .revalidate]
    )
    func otherStrategies(strategy: CacheStrategy) async throws {
        let fleet = try FleetFixture(strategy) { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        let machine = try await fleet.machine()
        let reads = fleet.tier.reads
        try await fleet.load(on: machine)
        #expect(fleet.tier.reads == reads)
    }

    @Test("keeps responses up to the limit of the strategy, whatever their fields say")
    func limits() async throws {
        let fleet = try FleetFixture(.cacheFirst(for: .seconds(50))) { _ in .ok("page") }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        fleet.clock.advance(by: 49)
        #expect(try await fleet.load(on: second).isShared)
        let third = try await fleet.machine()
        fleet.clock.advance(by: 1)
        try await fleet.load(on: third)
        #expect(fleet.trips == 2)
    }

    @Test("answers with a stale response within stale-while-revalidate alone, and the fleet renews it once")
    func stale() async throws {
        let counter = Counter()
        let fleet = try FleetFixture { _ in
            .ok("\(counter.next())", fields: ["Cache-Control": "max-age=100, stale-while-revalidate=50"])
        }
        var machines: [FleetFixture.Machine] = []
        for _ in 0..<5 { machines.append(try await fleet.machine()) }
        try await fleet.load(on: machines[0])
        #expect(await fleet.entries(1))
        let first = fleet.tier.values
        fleet.clock.advance(by: 149)
        let stale = try await fleet.load(on: machines[1])
        #expect(stale.isShared)
        #expect(stale.body == "1")
        #expect(stale.age == "149")
        #expect(await eventually { fleet.trips == 2 }, "the response is renewed in the background")
        #expect(
            await eventually {
                fleet.tier.values.filter { $0.value.count > 16 } != first.filter { $0.value.count > 16 }
            }
        )
        #expect(try await fleet.load(on: machines[2]).body == "2")
        #expect(fleet.trips == 2)
        // The tier's own clock stands still here, so that it still has what is too old.
        fleet.clock.advance(by: 151)
        #expect(await fleet.entries(1))
        #expect(try await fleet.load(on: machines[3]).body == "3")
    }

    @Test("gets a response again, with its new age, when the origin confirms it to the machine that renews it")
    func confirmed() async throws {
        let fleet = try FleetFixture { request in
            let fields: KeyValuePairs = [
                "Cache-Control": "public, max-age=100, stale-while-revalidate=50", "ETag": "\"1\"",
            ]
            let isConditional = request.value(of: "If-None-Match") == "\"1\""
            return isConditional ? .status(304, fields: fields) : .ok("page", fields: fields)
        }
        var machines: [FleetFixture.Machine] = []
        for _ in 0..<3 { machines.append(try await fleet.machine()) }
        try await fleet.load(on: machines[0])
        #expect(await fleet.entries(1))
        let first = fleet.tier.values.filter { $0.value.count > 16 }
        fleet.clock.advance(by: 120)
        #expect(try await fleet.load(on: machines[1]).age == "120")
        #expect(await eventually { fleet.tier.values.filter { $0.value.count > 16 } != first })
        let got = try await fleet.load(on: machines[2])
        #expect(got.isShared)
        #expect((got.body, got.age) == ("page", "0"))
        #expect(fleet.trips == 2)
        #expect(fleet.origin.requests.last?.value(of: "If-None-Match") == "\"1\"")
    }

    @Test(
        "does not get a response that the origin confirms with no-store or with Vary: *",
        arguments: [
            ["Cache-Control": "public, max-age=600, no-store"], ["Cache-Control": "public, max-age=600", "Vary": "*"],
        ] as [KeyValuePairs<String, String>]
    )
    func confirmedForTheLastTime(fields: KeyValuePairs<String, String>) async throws {
        let fleet = try FleetFixture { request in
            request.value(of: "If-None-Match") == "\"1\""
                ? .status(304, fields: fields)
                : .ok("page", fields: ["Cache-Control": "public, max-age=100", "ETag": "\"1\""])
        }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        fleet.clock.advance(by: 120)
        #expect(try await fleet.load(on: first).body == "page")
        #expect(fleet.origin.requests.last?.value(of: "If-None-Match") == "\"1\"")
        let got = try await fleet.load(on: second)
        #expect(got.body == "page")
        #expect(!got.isShared)
        #expect(fleet.trips == 3)
    }

    @Test(
        "does not answer with a stale response otherwise, also in place of an error",
        arguments: [
            "max-age=100", "max-age=100, stale-if-error=1000",
            "max-age=100, stale-while-revalidate=1000, must-revalidate",
        ]
    )
    func tooStale(control: String) async throws {
        let counter = Counter()
        let fleet = try FleetFixture { _ in
            counter.next() == 1 ? .ok("page", fields: ["Cache-Control": control, "ETag": "\"1\""]) : .status(500)
        }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        fleet.clock.advance(by: 101)
        let got = try await fleet.load(on: second)
        #expect(got.body != "page")
        #expect(fleet.trips == 2)
        #expect(fleet.origin.requests.last?.value(of: "If-None-Match") == nil)
    }

    @Test("has the keys of a rule apart, and an invalidation of their URL invalidates them on all machines")
    func keys() async throws {
        let key = CacheKey.ignoring("utm_*").own { $0.value(forHTTPHeaderField: "X-Tenant") }
        let counter = Counter()
        let fleet = try FleetFixture(key: key) { _ in
            .ok("\(counter.next())", fields: ["Cache-Control": "max-age=600"])
        }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        for (index, tenant) in ["a", "b"].enumerated() {
            try await fleet.load("/?utm_source=x", on: first, ["X-Tenant": tenant])
            #expect(await fleet.entries(1 + index))
        }
        let got = try await fleet.load("/?utm_source=y", on: second, ["X-Tenant": "b"])
        #expect(got.isShared)
        #expect(got.body == "2")
        try await first.cache.remove(fleet.origin.url("/?utm_source=z"))
        // The second machine has got the message when its own response is gone.
        #expect(await eventually { await second.cache.statistics.entries == 0 })
        #expect(try await fleet.load("/", on: second, ["X-Tenant": "b"]).body == "3")
        #expect(fleet.trips == 3)
    }

    @Test("has the variants of a response apart, by the fields that Vary names")
    func variants() async throws {
        let fleet = try FleetFixture { request in
            .ok(
                "in \(request.value(of: "Accept-Language") ?? "none")",
                fields: ["Cache-Control": "max-age=600", "Vary": "Accept-Language"]
            )
        }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        for (index, language) in ["de", "fr"].enumerated() {
            try await fleet.load(on: first, ["Accept-Language": language])
            // How the response varies, and the variants.
            #expect(await fleet.entries(2 + index))
        }
        for language in ["de", "fr"] {
            let got = try await fleet.load(on: second, ["Accept-Language": language])
            #expect(got.isShared)
            #expect(got.body == "in \(language)")
        }
        #expect(try await fleet.load(on: second, ["Accept-Language": "en"]).body == "in en")
        #expect(fleet.trips == 3)
    }

    @Test(
        "gets no response that may be meant for one user, unless the app shares such",
        arguments: [
            ("private, max-age=600", "X-Other", [:]), ("max-age=600", "Set-Cookie", [:]),
            ("max-age=600", "X-Other", ["Authorization": "Bearer secret"]),
            ("max-age=600", "X-Other", ["Cookie": "session=secret"]),
        ] as [(String, String, [String: String])]
    )
    func personal(control: String, name: String, request: [String: String]) async throws {
        let fleet = try FleetFixture { _ in .ok("mine", fields: ["Cache-Control": control, name: "a=b"]) }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first, request)
        try await fleet.load(on: second, request)
        #expect(fleet.trips == 2)
        let third = try await fleet.machine { $0.includesPersonalResponses = true }
        let fourth = try await fleet.machine { $0.includesPersonalResponses = true }
        try await fleet.load(on: third, request)
        #expect(await fleet.entries(1))
        #expect(try await fleet.load(on: fourth, request).isShared)
        #expect(fleet.trips == 3)
        // Another user gets nothing of it.
        try await fleet.load(on: fourth, ["Authorization": "Bearer other", "Cookie": "session=other"])
        #expect(fleet.trips == 4)
        for secret in ["secret", "127.0.0.1"] {
            let seen = fleet.tier.values.reduce(into: Data()) { $0 += Data($1.key.name.utf8) + $1.value }
            #expect(seen.range(of: Data(secret.utf8)) == nil)
        }
    }

    @Test("gets no body above the limit")
    func largeBodies() async throws {
        let fleet = try FleetFixture { _ in
            .ok(Data(count: 1_001), fields: ["Cache-Control": "max-age=600"])
        }
        let first = try await fleet.machine { $0.maximumEntrySize = .bytes(1_000) }
        try await fleet.load(on: first)
        try await fleet.load(on: try await fleet.machine { $0.maximumEntrySize = .bytes(1_001) })
        #expect(await fleet.entries(1))
        #expect(fleet.trips == 2)
    }

    @Test("shares nothing between machines with different secrets")
    func secrets() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        try await fleet.load(on: try await fleet.machine())
        #expect(await fleet.entries(1))
        try await fleet.load(on: try await fleet.machine { $0.secret = Data("another secret of the tests".utf8) })
        #expect(fleet.trips == 2)
        #expect(throws: WaystationError.self) {
            try ResponseCache(directory: TemporaryDirectory().url, sharing: fleet.sharing(secret: Data("short".utf8)))
        }
    }

    @Test(
        "that fails in any way fails no load and changes no body",
        arguments: [.down, .full, .lying { _ in Data("lie".utf8) }, .lying { $0 + [0] }, .lying { _ in Data() }]
            as [InMemoryTier.Behavior]
    )
    func failing(behavior: InMemoryTier.Behavior) async throws {
        let fleet = try FleetFixture { .ok("page \($0.path)", fields: ["Cache-Control": "max-age=600"]) }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        for number in 0..<10 { try await fleet.load("/\(number)", on: first) }
        fleet.tier.behavior = behavior
        for machine in [first, second] {
            for number in 0..<20 {
                #expect(try await fleet.load("/\(number)", on: machine).body == "page /\(number)")
            }
        }
    }

    @Test("that does not answer is left alone, with an event, and is used again when it works")
    func silence() async throws {
        let fleet = try FleetFixture { .ok("page \($0.path)", fields: ["Cache-Control": "max-age=600"]) }
        fleet.tier.behavior = .silent
        let timers = ManualClock()
        let time = ManualClock()
        let start = ContinuousClock.now
        let begin = time.now()
        let machine = try await fleet.machine {
            $0.schedule = timers.schedule
            $0.now = { start + .seconds(time.now().timeIntervalSince(begin)) }
        }
        for number in 0..<5 {
            async let load = fleet.load("/\(number)", on: machine)
            #expect(
                await eventually {
                    timers.fire()
                    return fleet.origin.requests.count > number
                }
            )
            #expect(try await load.body == "page /\(number)")
        }
        #expect(await fleet.event(.suspended, on: machine) != nil)
        #expect(try await fleet.load("/5", on: machine).body == "page /5", "no timer has to end this load's call")
        fleet.tier.behavior = .working
        time.advance(by: 60)
        try await fleet.load("/6", on: machine)
        #expect(await fleet.event(.resumed, on: machine) != nil)
    }

    @Test("has damaged entries removed, with an event")
    func damage() async throws {
        let fleet = try FleetFixture { _ in .ok("page", fields: ["Cache-Control": "max-age=600"]) }
        let (first, second) = (try await fleet.machine(), try await fleet.machine())
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        let (key, value) = try #require(fleet.tier.values.first { $0.value.count > 16 })
        fleet.tier.replace(key, with: value.dropLast() + [value[value.endIndex - 1] ^ 1])
        #expect(try await fleet.load(on: second).body == "page")
        #expect(await fleet.event(.damaged, on: second) != nil)
        #expect(fleet.trips == 2)
        #expect(await eventually { fleet.tier.values[key].map { $0 != value } ?? false }, "the entry is stored anew")
        #expect(try await fleet.load(on: try await fleet.machine()).isShared)
    }

    @Test("that evicts any of its values loses responses, and never brings back one that was invalidated")
    func eviction() async throws {
        let counter = Counter()
        let fleet = try FleetFixture { _ in .ok("\(counter.next())", fields: ["Cache-Control": "max-age=600"]) }
        let first = try await fleet.machine()
        try await fleet.load(on: first)
        #expect(await fleet.entries(1))
        let entry = try #require(fleet.tier.values.first { $0.value.count > 16 })
        try await first.cache.remove(fleet.origin.url("/"))
        #expect(await eventually { fleet.tier.values.count == 3 }, "the root of the URL is gone")
        #expect(fleet.tier.values[entry.key] == entry.value)
        let second = try await fleet.machine()
        #expect(try await fleet.load(on: second).body == "2")
        fleet.tier.evict { $1.count == 16 }
        #expect(try await fleet.load(on: try await fleet.machine()).body == "3")
    }
}
