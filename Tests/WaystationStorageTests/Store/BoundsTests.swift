import Foundation
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationStorage

@Suite("Bounds by size and age")
struct BoundsTests {
    private let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    @Test("above the maximum size the least recently used responses are evicted, down to the low-water mark")
    func eviction() async throws {
        let store = fixture.store(limits: StoreLimits(maximumSize: .kilobytes(110), residentLimit: .bytes(0)))
        for number in 0..<10 {
            fixture.clock.advance(.seconds(120))
            try await store.store(.get("\(number)"), .random(10_000))
        }
        fixture.clock.advance(.seconds(120))
        #expect(await store.lookup(.get("0")).count == 1)
        fixture.clock.advance(.seconds(120))
        try await store.store(.get("10"), .random(10_000))
        await store.flush()
        let statistics = await store.statistics()
        #expect(statistics.bytes <= 88_000)
        #expect(statistics.bytes > 77_000)
        #expect(statistics.entries == 8)
        for number in [0, 10, 9, 8] { #expect(await store.lookup(.get("\(number)")).count == 1, "\(number)") }
        for number in [1, 2, 3] { #expect(await store.lookup(.get("\(number)")).isEmpty, "\(number)") }
        #expect(fixture.events.of(.evicted).reduce(0) { $0 + $1.count } == 3)
    }

    @Test("responses that were last used before the clock was set back are evicted before those used since then")
    func clockSetBack() async throws {
        let store = fixture.store(limits: StoreLimits(maximumSize: .kilobytes(110), residentLimit: .bytes(0)))
        let year = Duration.seconds(365 * 86_400)
        fixture.clock.advance(year)
        for number in 0..<8 {
            fixture.clock.advance(.seconds(120))
            try await store.store(.get("\(number)"), .random(10_000))
        }
        await store.flush()
        fixture.clock.advance(year * -1)
        #expect(await store.lookup(.get("0")).count == 1)
        for number in 8..<11 {
            fixture.clock.advance(.seconds(120))
            try await store.store(.get("\(number)"), .random(10_000))
        }
        await store.flush()
        for number in [0, 4, 8, 9, 10] { #expect(await store.lookup(.get("\(number)")).count == 1, "\(number)") }
        for number in [1, 2, 3] { #expect(await store.lookup(.get("\(number)")).isEmpty, "\(number)") }
    }

    @Test("a use of a response in memory counts as a use")
    func residentUse() async throws {
        let store = fixture.store(limits: StoreLimits(maximumSize: .kilobytes(35)))
        for name in ["a", "b", "c"] { try await store.store(.get(name), .random(10_000)) }
        _ = await store.lookup(.get("a"))
        fixture.clock.advance(.seconds(90))
        _ = await store.lookup(.get("a"))
        #expect(store.resident(.get("a")) != nil)
        try await store.store(.get("d"), .random(10_000))
        await store.flush()
        #expect(await store.lookup(.get("a")).count == 1)
        #expect(await store.lookup(.get("b")).isEmpty)
    }

    /// A store with the responses `a`, `b` and `c`, of which `a` was used last.
    private func storeAfterUse(delays: DrivenDelays) async throws -> ResponseStore {
        let store = fixture.store { delays.drive(&$0) }
        for name in ["a", "b", "c"] {
            try await store.store(.get(name), .random(10_000))
            fixture.clock.advance(.seconds(1))
        }
        await store.flush()
        fixture.clock.advance(.seconds(90))
        #expect(await store.lookup(.get("a")).count == 1)
        return store
    }

    /// Whether `a` remains and `b` goes when another process stores too much.
    private func otherProcessKeepsUsed() async throws -> Bool {
        let other = fixture.store(limits: StoreLimits(maximumSize: .kilobytes(35)))
        try await other.store(.get("d"), .random(10_000))
        await other.flush()
        let (used, unused) = (await other.lookup(.get("a")), await other.lookup(.get("b")))
        return !used.isEmpty && unused.isEmpty
    }

    @Test("a use counts for the eviction by another process after a minute")
    func useInOtherProcess() async throws {
        let delays = DrivenDelays()
        let store = try await storeAfterUse(delays: delays)
        delays.end { $0 == 60 }
        await store.settle()
        #expect(try await otherProcessKeepsUsed())
    }

    @Test("a use counts for the eviction by another process when its own store was released")
    func useBeforeRelease() async throws {
        let delays = DrivenDelays()
        weak var released: ResponseStore?
        do {
            let store = try await storeAfterUse(delays: delays)
            released = store
        }
        delays.end { $0 < 1 }
        #expect(await eventually { released == nil })
        #expect(try await otherProcessKeepsUsed())
    }

    @Test("a use counts for the eviction by another process when its own process has ended")
    func useBeforeExit() async throws {
        for name in ["a", "b", "c"] {
            try await fixture.store().store(.get(name), .random(10_000))
            fixture.clock.advance(.seconds(1))
        }
        fixture.clock.advance(.seconds(90))
        let path = fixture.directory.path(percentEncoded: false)
        await #expect(processExitsWith: .exitCode(7)) {
            [path = path as String, time = fixture.clock.now.timeIntervalSince1970 as Double] in
            let now = Date(timeIntervalSince1970: time)
            let store = ResponseStore(directory: URL(filePath: path), now: { now })
            // The upkeep after opening writes uses too.
            await store.flush()
            guard await store.lookup(.get("a")).count == 1 else { exit(1) }
            exit(7)
        }
        #expect(try await otherProcessKeepsUsed())
    }

    @Test("evicting a large body removes its file")
    func evictedFile() async throws {
        let store = fixture.store(limits: StoreLimits(maximumSize: .kilobytes(300)))
        for (seed, name) in ["a", "b", "c", "d"].enumerated() {
            fixture.clock.advance(.seconds(120))
            try await store.store(.get(name), .random(100_000, seed: UInt64(seed)))
        }
        await store.flush()
        #expect(await store.statistics().entries == 2)
        #expect(fixture.files(in: "bodies").count == 2)
    }

    @Test("a response that is too old is not returned and is removed", arguments: [false, true])
    func expiry(isResident: Bool) async throws {
        let store = fixture.store(limits: StoreLimits(maximumAge: .seconds(3_600)))
        try await store.store(.get("a"), .random(10))
        if isResident { _ = await store.lookup(.get("a")) }
        fixture.clock.advance(.seconds(3_600))
        #expect(await store.lookup(.get("a")).count == 1)
        fixture.clock.advance(.milliseconds(500))
        #expect(store.resident(.get("a")) == nil)
        #expect(await store.lookup(.get("a")).isEmpty)
        await store.flush()
        #expect(await store.statistics().entries == 0)
        #expect(fixture.events.of(.expired).map(\.count) == [1])
    }

    @Test("responses that are too old are removed when a store opens, however many there are")
    func expiryAtOpening() async throws {
        let store = fixture.store()
        for number in 0..<150 { store.write(.get("\(number)"), .random(10))?.commit { _ in } }
        await store.flush()
        fixture.clock.advance(.seconds(31 * 24 * 60 * 60))
        let other = fixture.store()
        await other.flush()
        #expect(await other.statistics().entries == 0)
    }

    @Test("the pages of a removed body are returned to the file system")
    func vacuum() async throws {
        let store = fixture.store()
        for number in 0..<200 { store.write(.get("\(number)"), .random(60_000))?.commit { _ in } }
        await store.flush()
        #expect(try await store.remove(.all) == 200)
        await store.flush()
        let opened = try #require(store.opened())
        #expect(try !opened.index.vacuumStep())
        #expect(await store.statistics().bytes == 0)
    }
}

@Suite("Purging")
struct PurgingTests {
    private let fixture: StoreFixture
    private let store: ResponseStore
    private static let urls = [
        "https://shop.example/a", "https://shop.example/a/b", "https://shop.example/ab", "http://shop.example:8080/a",
        "https://shop.example.org/a", "https://sub.shop.example/a",
    ]

    init() async throws {
        fixture = try StoreFixture()
        store = fixture.store()
        for url in Self.urls {
            for partition in ["", "anna"] {
                fixture.clock.advance(.seconds(1))
                let key = RequestKey(method: "GET", url: url, partition: partition)
                try await store.store(key, .random(10))
                _ = await store.lookup(key)
            }
        }
    }

    private func remaining() async -> [String] {
        var found: [String] = []
        for url in Self.urls {
            for partition in ["", "anna"] {
                let key = RequestKey(method: "GET", url: url, partition: partition)
                let resident = store.resident(key)
                let stored = await store.lookup(key)
                #expect(resident == nil || !stored.isEmpty, "a removed response stayed in memory")
                if !stored.isEmpty { found.append(url + (partition.isEmpty ? "" : "#" + partition)) }
            }
        }
        return found
    }

    @Test("by URL removes all its partitions, and no URL that only begins with it")
    func byURL() async throws {
        #expect(try await store.remove(.url("https://shop.example/a")) == 2)
        #expect(await remaining().count == 10)
    }

    @Test("by prefix compares text")
    func byPrefix() async throws {
        #expect(try await store.remove(.prefix("https://shop.example/a")) == 6)
        #expect(try await store.remove(.prefix("")) == 6)
    }

    @Test("by host includes every scheme and port, and no other host")
    func byHost() async throws {
        #expect(try await store.remove(.host("Shop.example")) == 8)
        #expect(await remaining().filter { !$0.contains("#") } == Array(Self.urls.suffix(2)))
    }

    @Test("by age counts from the response time")
    func byAge() async throws {
        #expect(try await store.remove(olderThan: fixture.clock.now) == 11)
        #expect(await remaining() == ["https://sub.shop.example/a#anna"])
    }

    @Test("by partition keeps the others")
    func byPartition() async throws {
        #expect(try await store.remove(.partition("anna")) == 6)
        #expect(await remaining() == Self.urls)
    }

    @Test("all removes every response")
    func all() async throws {
        #expect(try await store.remove(.all) == 12)
        #expect(await remaining().isEmpty)
        #expect(await store.statistics().residentEntries == 0)
    }
}
