#if NIO
import NIOCore
import Testing

@testable import WaystationNIO

@Suite("Quiet connections")
struct QuietWatchTests {
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test("Silence leads to a PING, and silence after it to a loss")
    func silence() {
        var watch = QuietWatch(limits: HTTP2Limits(), now: start)
        #expect(watch.check(now: start + .seconds(14), hasStreams: true) == .wait(until: start + .seconds(15)))
        #expect(watch.check(now: start + .seconds(15), hasStreams: true) == .ping(until: start + .seconds(25)))
        #expect(watch.check(now: start + .seconds(24), hasStreams: true) == .wait(until: start + .seconds(25)))
        #expect(watch.check(now: start + .seconds(25), hasStreams: true) == .lost)
    }

    @Test("Any frame is a sign of life")
    func life() {
        var watch = QuietWatch(limits: HTTP2Limits(), now: start)
        #expect(watch.check(now: start + .seconds(15), hasStreams: true) == .ping(until: start + .seconds(25)))
        watch.heard(now: start + .seconds(24))
        #expect(watch.check(now: start + .seconds(25), hasStreams: true) == .wait(until: start + .seconds(39)))
    }

    @Test("PINGs become rarer while the server sends nothing but answers to them")
    func patience() {
        var watch = QuietWatch(limits: HTTP2Limits(), now: start)
        var now = start
        for pause in [15, 30, 60, 120, 240, 300, 300] as [Int64] {
            #expect(
                watch.check(now: now + .seconds(pause - 1), hasStreams: true) == .wait(until: now + .seconds(pause))
            )
            now = now + .seconds(pause)
            #expect(watch.check(now: now, hasStreams: true) == .ping(until: now + .seconds(10)))
            watch.heard(now: now, isPingAnswer: true)
        }
        watch.heard(now: now)
        #expect(watch.check(now: now, hasStreams: true) == .wait(until: now + .seconds(15)))
    }

    @Test("A connection without exchanges is left alone, also while a PING is not answered")
    func idle() {
        var watch = QuietWatch(limits: HTTP2Limits(), now: start)
        #expect(watch.check(now: start + .seconds(15), hasStreams: true) == .ping(until: start + .seconds(25)))
        #expect(watch.check(now: start + .seconds(25), hasStreams: false) == .rest)
        #expect(watch.check(now: start + .seconds(26), hasStreams: true) == .ping(until: start + .seconds(36)))
    }
}
#endif
