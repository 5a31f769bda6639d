import Foundation
import Testing
import WaystationPacks
import WaystationTestSupport

@Suite struct UpdateThrottleTests {
    private let start = Sample.moment

    private func checked(
        retryAfter: Duration? = nil,
        _ interval: UpdateThrottle.Interval = .init(),
        seed: UInt64 = 1
    ) -> UpdateThrottle {
        var throttle = UpdateThrottle()
        var generator = SeededGenerator(seed: seed)
        throttle.recordCheck(at: start, retryAfter: retryAfter, interval: interval, using: &generator)
        return throttle
    }

    @Test("The first check may be made at once")
    func first() {
        #expect(UpdateThrottle().delay(at: start) == nil)
    }

    @Test("Two checks are at least five minutes apart, plus at most a tenth", arguments: [UInt64](1...20))
    func interval(seed: UInt64) throws {
        let throttle = checked(seed: seed)
        #expect(throttle.delay(at: start.addingTimeInterval(299.99)) != nil)
        #expect(throttle.delay(at: start.addingTimeInterval(330)) == nil)
        let delay = try #require(throttle.delay(at: start))
        #expect(delay >= .seconds(300) && delay <= .seconds(330))
    }

    @Test("Clients that started together spread out")
    func jitter() {
        #expect(Set((1...20).map { checked(seed: $0).nextCheck }).count == 20)
    }

    @Test("The caller sets interval and variation")
    func configuration() {
        let throttle = checked(.init(.seconds(60), jitter: 0))
        #expect(throttle.delay(at: start.addingTimeInterval(15)) == .seconds(45))
        #expect(throttle.delay(at: start.addingTimeInterval(60)) == nil)
        #expect(checked(.init(.zero, jitter: 0)).delay(at: start) == nil)
    }

    @Test("A longer Retry-After counts, a shorter one does not")
    func retryAfter() {
        #expect(checked(retryAfter: .seconds(900)).delay(at: start) == .seconds(900))
        #expect(checked(retryAfter: .seconds(10), .init(jitter: 0)).delay(at: start) == .seconds(300))
    }

    @Test("A clock that was set back does not stop updates")
    func clockSetBack() {
        #expect(checked().delay(at: start.addingTimeInterval(-86_400)) == nil)
    }

    @Test("The throttle's state survives a restart")
    func coding() throws {
        let throttle = checked()
        let copy = try JSONDecoder().decode(UpdateThrottle.self, from: JSONEncoder().encode(throttle))
        #expect(copy == throttle)
    }

    @Test("Odd numbers from a caller or a damaged record cause no trap")
    func oddNumbers() throws {
        for jitter in [-1, 5, .nan, .infinity] { #expect(checked(.init(jitter: jitter)).delay(at: start) != nil) }
        #expect(checked(.init(.seconds(Int64.max))).delay(at: start) != nil)
        #expect(checked(.init(.seconds(-5))).delay(at: start) == nil)
        let record = Data(#"{"lastCheck": -1e300, "nextCheck": 1e300}"#.utf8)
        #expect(try JSONDecoder().decode(UpdateThrottle.self, from: record).delay(at: start) != nil)
    }
}
