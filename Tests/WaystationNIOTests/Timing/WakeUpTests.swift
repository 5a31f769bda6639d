#if NIO
import NIOCore
import Testing

@testable import WaystationNIO

@Suite("The wake-up of a transport")
struct WakeUpTests {
    private let now = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test("moves to an earlier deadline, and stays for a later one")
    func earlier() {
        var wakeUp = WakeUp()
        #expect(wakeUp.add(now + .seconds(60), now: now) == now + .seconds(60))
        #expect(wakeUp.add(now + .seconds(61), now: now) == nil)
        #expect(wakeUp.add(now + .seconds(5), now: now) == now + .seconds(5))
        wakeUp.fired()
        #expect(wakeUp.add(now + .seconds(61), now: now) == now + .seconds(61))
    }

    @Test("is never nearer than a tick, so that it cannot spin")
    func tick() {
        var wakeUp = WakeUp()
        #expect(wakeUp.add(now, now: now) == now + WakeUp.tick)
        #expect(wakeUp.add(now - .seconds(1), now: now) == nil)
    }
}
#endif
