import Testing
import WaystationStorage

@Suite("A circuit breaker")
struct CircuitBreakerTests {
    private let start = ContinuousClock.now
    private var breaker = CircuitBreaker()

    /// Makes calls that end at once.
    private mutating func call(_ outcomes: [Bool], at time: Duration = .zero) -> [CircuitBreaker.Change?] {
        outcomes.map { isGood in
            breaker.admit(at: start + time).flatMap { breaker.end($0, isGood: isGood, at: start + time) }
        }
    }

    @Test("opens at the fifth bad call of the last twenty, and admits nothing for a second")
    mutating func opens() {
        #expect(call([false, false, false, false]) == [nil, nil, nil, nil])
        #expect(breaker.isClosed)
        #expect(call([false]) == [.opened(pause: .seconds(1))])
        #expect(breaker.admit(at: start) == nil)
        #expect(breaker.admit(at: start + .milliseconds(999)) == nil)
        #expect(breaker.admit(at: start + .seconds(1)) != nil)
    }

    @Test("opens also if every second call works, and never if every sixth call is bad")
    mutating func mixture() {
        #expect(call([false, true, false, true, false, true, false, true, false]).last == .opened(pause: .seconds(1)))
        breaker = CircuitBreaker()
        for _ in 0..<100 {
            let changes = call([false, true, true, true, true, true])
            #expect(changes.allSatisfy { $0 == nil })
        }
    }

    @Test("admits one call after a pause, closes if it works, and otherwise waits twice as long, up to 30 s")
    mutating func probes() {
        _ = call([false, false, false, false, false])
        var time = Duration.seconds(1)
        for pause in [2, 4, 8, 16, 30, 30] {
            let probe = breaker.admit(at: start + time)
            #expect(probe != nil)
            #expect(breaker.admit(at: start + time) == nil, "a second call waits for the first")
            let change = probe.flatMap { breaker.end($0, isGood: false, at: start + time) }
            #expect(change == .opened(pause: .seconds(pause)))
            time += .seconds(pause)
        }
        #expect(call([true], at: time) == [.closed])
        // Earlier failures no longer count.
        #expect(call([false, false, false, false], at: time) == [nil, nil, nil, nil])
        #expect(call([false], at: time) == [.opened(pause: .seconds(1))])
    }

    @Test("is not closed by calls that began before it opened, and does not wait for a probe without an end")
    mutating func lateCalls() {
        let early = (0..<3).compactMap { _ in breaker.admit(at: start) }
        _ = call([false, false, false, false, false])
        #expect(breaker.end(early[0], isGood: true, at: start) == nil)
        #expect(breaker.admit(at: start) == nil)
        _ = breaker.admit(at: start + .seconds(1))
        #expect(breaker.end(early[1], isGood: true, at: start + .seconds(1)) == nil)
        #expect(!breaker.isClosed)
        #expect(breaker.admit(at: start + .seconds(2)) != nil)
    }
}
