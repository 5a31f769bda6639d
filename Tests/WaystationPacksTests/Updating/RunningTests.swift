import Foundation
import Synchronization
import Testing
import WaystationHTTP

@testable import WaystationPacks

@Suite("An updater that runs")
struct RunningTests {
    private let fixture: UpdateFixture
    private let clock = SteppedClock()

    init() throws { fixture = try UpdateFixture() }

    /// Runs an updater through several checks that each take `taken`, and returns the time at which each began.
    private func starts(
        of count: Int,
        every interval: Duration,
        taking taken: Duration = .zero,
        adjust: (inout PackUpdater.Configuration) -> Void = { _ in }
    ) async throws -> [Duration] {
        let starts = Mutex<[Duration]>([])
        let (fixture, clock) = (fixture, clock)
        let start = clock.now
        fixture.server.gate.withLock {
            $0 = {
                starts.withLock { $0.append(clock.now - start) }
                clock.advance(by: taken)
                fixture.home.advance(taken.inSeconds)
            }
        }
        let updater = fixture.updater(adjust: adjust)
        let running = Task { try await updater.run(every: interval, clock: clock) }
        for _ in 1..<count {
            fixture.home.advance(await clock.waitForSleeper().inSeconds)
            clock.wake()
        }
        await clock.waitForSleeper()
        running.cancel()
        try await running.value
        return starts.withLock { $0 }
    }

    private static func pauses(_ starts: [Duration]) -> [Duration] { zip(starts.dropFirst(), starts).map { $0 - $1 } }

    @Test("continues until it is cancelled, and reports errors as events")
    func resident() async throws {
        let updater = fixture.updater { $0.interval = .init(.seconds(3600)) }
        fixture.server.failure.withLock { $0 = PackError(.network, "no network") }
        let running = Task { [clock] in try await updater.run(every: .seconds(3600), clock: clock) }
        let wait = await clock.waitForSleeper()
        #expect(fixture.home.events.contains("updateFailed -"))
        fixture.server.failure.withLock { $0 = nil }
        try fixture.publish("1.0")
        fixture.home.advance(wait.inSeconds)
        clock.wake()
        await clock.waitForSleeper()
        #expect(try fixture.title() == "<title>1.0</title>")
        running.cancel()
        try await running.value
    }

    @Test(
        "asks at its interval, from the start of one check to the start of the next",
        arguments: [Duration.seconds(10), .seconds(60), .seconds(300), .seconds(3600)]
    )
    func interval(_ interval: Duration) async throws {
        try fixture.publish("1.0")
        let pauses = Self.pauses(try await starts(of: 6, every: interval, taking: .seconds(7)))
        // Only the first pause is longer, by a random share drawn once, so that clients that started together spread
        // out.
        #expect(pauses[0] >= interval && pauses[0] <= interval * 1.1)
        #expect(Array(pauses.dropFirst()) == Array(repeating: interval, count: 4))
    }

    @Test("asks again one interval after the first check if it has no variation")
    func noVariation() async throws {
        let starts = try await starts(of: 4, every: .seconds(60)) { $0.interval.jitter = 0 }
        #expect(starts == [.zero, .seconds(60), .seconds(120), .seconds(180)])
    }

    @Test("skips the checks that are due while one takes longer than the interval")
    func longCheck() async throws {
        let starts = try await starts(of: 4, every: .seconds(60), taking: .seconds(150)) { $0.interval.jitter = 0 }
        #expect(starts == [.zero, .seconds(180), .seconds(360), .seconds(540)])
    }

    @Test("waits as long as the server requests, and then continues at its interval")
    func retryAfter() async throws {
        fixture.server.failure.withLock { $0 = PackError(.refused, "busy", retryAfter: .seconds(4000)) }
        let updater = fixture.updater { $0.interval.jitter = 0 }
        let running = Task { [clock] in try await updater.run(every: .seconds(60), clock: clock) }
        #expect(await clock.waitForSleeper() == .seconds(4000))
        fixture.server.failure.withLock { $0 = nil }
        fixture.home.advance(4000)
        clock.wake()
        #expect(await clock.waitForSleeper() == .seconds(60))
        running.cancel()
        try await running.value
    }

    @Test("asks no sooner after a restart than its interval allows")
    func restart() async throws {
        _ = try await starts(of: 3, every: .seconds(60)) { $0.interval.jitter = 0 }
        fixture.server.gate.withLock { $0 = nil }
        let asked = fixture.server.inquiries.withLock { $0.count }
        fixture.home.advance(20)
        let updater = fixture.updater(of: try fixture.home.library())
        let running = Task { [clock] in try await updater.run(every: .seconds(60), clock: clock) }
        #expect(await clock.waitForSleeper() == .seconds(40))
        #expect(fixture.server.inquiries.withLock { $0.count } == asked)
        running.cancel()
        try await running.value
    }

    @Test("does not shorten the time that other calls of check wait")
    func otherCalls() async throws {
        _ = try await starts(of: 3, every: .seconds(60))
        fixture.home.advance(60)
        #expect(try await fixture.updater().check().throttledUntil != nil)
    }

    @Test("refuses to run without a pause", arguments: [Duration.zero, .seconds(-1)])
    func noInterval(_ interval: Duration) async throws {
        let error = await #expect(throws: PackError.self) { try await fixture.updater().run(every: interval) }
        #expect(error?.code == .invalidArgument)
        #expect(fixture.server.inquiries.withLock { $0.isEmpty })
    }
}
