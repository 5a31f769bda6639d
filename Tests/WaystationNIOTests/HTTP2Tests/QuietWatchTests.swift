#if NIO
import NIOCore
import NIOEmbedded
import NIOPosix
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

    @Test("While the server's system takes the bytes of an upload, no PING is sent and none counts as lost")
    func upload() {
        var watch = QuietWatch(limits: HTTP2Limits(), now: start)
        var now = start + .seconds(15)
        for _ in 0..<10 {
            let next = now + .seconds(15)
            #expect(watch.check(now: now, hasStreams: true, isSending: true) == .wait(until: next))
            now = next
        }
        #expect(watch.check(now: now, hasStreams: true, isSending: false) == .ping(until: now + .seconds(10)))
        for _ in 0..<10 {
            let next = now + .seconds(10)
            #expect(watch.check(now: next, hasStreams: true, isSending: true) == .wait(until: next + .seconds(10)))
            now = next
        }
        #expect(watch.check(now: now + .seconds(10), hasStreams: true, isSending: false) == .lost)
    }

    @Test("Bytes are taken if some are on their way and some were acknowledged in the last seconds")
    func acknowledgements() {
        let time = HTTP2Limits().pingTimeout
        #expect(Acknowledgements(missing: 1, age: .seconds(9)).areArriving(within: time))
        #expect(!Acknowledgements(missing: 1, age: .seconds(10)).areArriving(within: time))
        // Bytes that were all acknowledged show nothing about the server, which may hang.
        #expect(!Acknowledgements(missing: 0, age: .zero).areArriving(within: time))
    }

    @Test("The system tells what was acknowledged on a real connection")
    func system() async throws {
        let origin = try RawOrigin { _ in [] }
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let channel = try await ClientBootstrap(group: loop).connect(host: "127.0.0.1", port: origin.port).get()
        let acknowledgements = try await loop.submit { Acknowledgements(of: channel) }.get()
        #expect(acknowledgements?.missing == 0)
        #expect(Acknowledgements(of: EmbeddedChannel()) == nil)
        try await channel.close().get()
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
