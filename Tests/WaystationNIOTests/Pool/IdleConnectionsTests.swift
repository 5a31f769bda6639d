#if NIO
import NIOCore
import Testing

@testable import WaystationNIO

@Suite("Idle connections")
struct IdleConnectionsTests {
    private func connection(_ number: UInt64) -> ConnectionID { ConnectionID(number: number) }

    @Test("expire when they have been idle for their lifetime, oldest first")
    func expire() {
        let start = NIODeadline.uptimeNanoseconds(1_000)
        var idle = IdleConnections(limit: 10, lifetime: .seconds(60))
        #expect(idle.deadline == nil)
        #expect(idle.add(connection(1), now: start) == nil)
        #expect(idle.add(connection(2), now: start + .seconds(10)) == nil)
        #expect(idle.deadline == start + .seconds(60))
        #expect(idle.removeExpired(start + .seconds(59)) == [])
        #expect(idle.removeExpired(start + .seconds(60)) == [connection(1)])
        #expect(idle.deadline == start + .seconds(70))
        #expect(idle.removeExpired(start + .seconds(70)) == [connection(2)])
    }

    @Test("are closed, the oldest first, when they are too many")
    func limit() {
        var idle = IdleConnections(limit: 2, lifetime: .seconds(60))
        let now = NIODeadline.uptimeNanoseconds(1)
        #expect(idle.add(connection(1), now: now) == nil)
        #expect(idle.add(connection(2), now: now) == nil)
        #expect(idle.add(connection(1), now: now) == nil)
        #expect(idle.add(connection(3), now: now) == connection(2))
        #expect(idle.removeAll() == [connection(1), connection(3)])
    }

    @Test("are forgotten when they are used")
    func used() {
        var idle = IdleConnections(limit: 2, lifetime: .seconds(60))
        _ = idle.add(connection(1), now: .uptimeNanoseconds(1))
        idle.remove(connection(1))
        #expect(idle.removeAll() == [])
    }
}
#endif
