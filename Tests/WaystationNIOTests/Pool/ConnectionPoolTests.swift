#if NIO
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("The pool of an origin")
struct ConnectionPoolTests {
    private typealias Action = ConnectionPool.Action

    /// A pool whose exchanges and connections are named by numbers.
    private struct Fixture {
        var pool: ConnectionPool
        var ids = ConnectionID.Source()

        init(limit: Int = 6) { pool = ConnectionPool(limit: limit) }

        mutating func add(_ number: UInt64, isFirst: Bool = false) -> [ConnectionPool.Action] {
            pool.add(ExchangeID(number: number), isFirst: isFirst, ids: &ids)
        }

        /// A connect succeeds, and the connection reports what it can take.
        mutating func connected(_ number: UInt64, canTake count: Int = 1, isMultiplexed: Bool = false) -> [Action] {
            pool.connected(connection(number), isMultiplexed: isMultiplexed) + canTake(number, count)
        }

        mutating func canTake(_ number: UInt64, _ count: Int = 1) -> [Action] {
            pool.connection(connection(number), canTake: count, ids: &ids)
        }

        mutating func closed(_ number: UInt64) -> [Action] { pool.closed(connection(number), ids: &ids) }

        /// A connection drops its exchange, which must be sent again.
        mutating func lost(_ exchange: UInt64, on number: UInt64) -> [Action] {
            pool.ended(on: connection(number))
            return pool.add(ExchangeID(number: exchange), lostOn: connection(number), ids: &ids)
        }

        /// The exchange on an HTTP/1.1 connection ends, and the connection is free again.
        mutating func finish(_ number: UInt64) -> [Action] {
            pool.begins(on: connection(number))
            pool.ended(on: connection(number))
            return canTake(number)
        }
    }

    private static func connection(_ number: UInt64) -> ConnectionID { ConnectionID(number: number) }

    private func begin(_ exchange: UInt64, on connection: UInt64, isReused: Bool = false) -> Action {
        .begin(ExchangeID(number: exchange), on: ConnectionID(number: connection), isReused: isReused)
    }

    private func connect(_ number: UInt64) -> Action { .connect(ConnectionID(number: number)) }

    @Test("makes another connection in place of one that takes no more exchanges, whatever the limit is")
    func drains() {
        var fixture = Fixture(limit: 1)
        _ = fixture.add(1)
        #expect(fixture.connected(1, canTake: 1, isMultiplexed: true) == [begin(1, on: 1)])
        fixture.pool.begins(on: Self.connection(1))
        #expect(fixture.canTake(1, 0) == [])
        #expect(fixture.add(2) == [])
        #expect(fixture.pool.drains(Self.connection(1), ids: &fixture.ids) == [connect(2)])
        let failure = TransportFailure(.cannotConnectToHost, "refused")
        #expect(fixture.pool.connectFailed(Self.connection(2), failure) == [.fail(ExchangeID(number: 2), failure)])
    }

    @Test("makes one connection for each exchange, up to the limit; the others wait in order")
    func limit() {
        var fixture = Fixture(limit: 2)
        #expect(fixture.add(1) == [connect(1)])
        #expect(fixture.add(2) == [connect(2)])
        #expect(fixture.add(3) == [])
        #expect(fixture.add(4) == [])
        #expect(fixture.connected(2) == [begin(1, on: 2)])
        #expect(fixture.connected(1) == [begin(2, on: 1)])
        #expect(fixture.finish(1) == [begin(3, on: 1, isReused: true)])
        #expect(fixture.finish(1) == [begin(4, on: 1, isReused: true)])
    }

    @Test("uses the connection that was used last")
    func mostRecent() {
        var fixture = Fixture()
        _ = fixture.add(1)
        _ = fixture.add(2)
        _ = fixture.connected(1)
        _ = fixture.connected(2)
        _ = fixture.finish(2)
        _ = fixture.finish(1)
        #expect(fixture.add(3) == [begin(3, on: 1, isReused: true)])
        #expect(fixture.add(4) == [begin(4, on: 2, isReused: true)])
        #expect(fixture.add(5) == [connect(3)])
    }

    @Test("lets an exchange that is sent again go first")
    func first() {
        var fixture = Fixture(limit: 1)
        _ = fixture.add(1)
        _ = fixture.add(2)
        _ = fixture.add(3, isFirst: true)
        #expect(fixture.connected(1) == [begin(3, on: 1)])
    }

    /// A pool with two connections that have served; exchange 3 is on the first, and exchange 2 on the second.
    private func used() -> Fixture {
        var fixture = Fixture(limit: 2)
        for number: UInt64 in 1...3 { _ = fixture.add(number) }
        _ = fixture.connected(1)
        _ = fixture.connected(2)
        fixture.pool.begins(on: Self.connection(2))
        #expect(fixture.finish(1) == [begin(3, on: 1, isReused: true)])
        fixture.pool.begins(on: Self.connection(1))
        return fixture
    }

    @Test("sends an exchange whose connection was dropped on a new connection, and lets others use the old ones")
    func dropped() {
        var fixture = used()
        #expect(fixture.lost(3, on: 1) == [connect(3)])
        #expect(fixture.closed(1) == [])
        #expect(fixture.finish(2) == [])
        #expect(fixture.add(4) == [begin(4, on: 2, isReused: true)])
        #expect(fixture.add(5) == [])
        #expect(fixture.connected(3) == [begin(3, on: 3)])
        #expect(fixture.finish(3) == [begin(5, on: 3, isReused: true)])
    }

    @Test("sends a dropped exchange on any connection if no new one can be made")
    func droppedAndRefused() {
        var fixture = used()
        #expect(fixture.lost(3, on: 1) == [connect(3)])
        _ = fixture.finish(2)
        let failure = TransportFailure(.cannotConnectToHost, "refused")
        #expect(fixture.pool.connectFailed(Self.connection(3), failure) == [begin(3, on: 2, isReused: true)])
        #expect(fixture.lost(3, on: 2) == [connect(4)])
        #expect(fixture.pool.connectFailed(Self.connection(4), failure) == [.fail(ExchangeID(number: 3), failure)])
        #expect(fixture.closed(1) == [] && fixture.closed(2) == [])
        #expect(fixture.pool.isEmpty)
    }

    @Test("does not make a connection for a dropped exchange that was cancelled")
    func droppedAndCancelled() {
        var fixture = used()
        _ = fixture.lost(3, on: 1)
        #expect(fixture.pool.remove(ExchangeID(number: 3)) == [.abandon(Self.connection(3))])
        #expect(fixture.closed(1) == [])
    }

    @Test("sends an exchange again on an HTTP/2 connection that has dropped nothing but its stream")
    func droppedStream() {
        var fixture = Fixture()
        _ = fixture.add(1)
        _ = fixture.connected(1, canTake: 100, isMultiplexed: true)
        fixture.pool.begins(on: Self.connection(1))
        #expect(fixture.lost(1, on: 1) == [begin(1, on: 1, isReused: true)])
    }

    @Test("makes a new connection for those that wait when one is closed")
    func closed() {
        var fixture = Fixture(limit: 1)
        _ = fixture.add(1)
        _ = fixture.connected(1)
        #expect(fixture.add(2) == [])
        #expect(fixture.closed(1) == [connect(2)])
        #expect(fixture.connected(2) == [begin(2, on: 2)])
    }

    @Test("fails those that wait when the last connect fails, and only then")
    func connectFailed() {
        let failure = TransportFailure(.cannotConnectToHost, "refused")
        var fixture = Fixture()
        _ = fixture.add(1)
        _ = fixture.add(2)
        #expect(fixture.pool.connectFailed(Self.connection(1), failure) == [])
        #expect(
            fixture.pool.connectFailed(Self.connection(2), failure)
                == [.fail(ExchangeID(number: 1), failure), .fail(ExchangeID(number: 2), failure)]
        )
        #expect(fixture.pool.isEmpty)

        _ = fixture.add(3)
        _ = fixture.connected(3)
        _ = fixture.add(4)
        #expect(fixture.pool.connectFailed(Self.connection(4), failure) == [])
        #expect(fixture.finish(3) == [begin(4, on: 3, isReused: true)])
    }

    @Test("gives up the connect that a cancelled exchange has waited for")
    func removed() {
        var fixture = Fixture()
        _ = fixture.add(1)
        #expect(fixture.pool.remove(ExchangeID(number: 1)) == [.abandon(Self.connection(1))])
        #expect(fixture.pool.remove(ExchangeID(number: 1)) == [])
        #expect(fixture.pool.isEmpty)
    }

    @Test("moves all that wait to an HTTP/2 connection, and gives up the other connects")
    func multiplexed() {
        var fixture = Fixture()
        for number: UInt64 in 1...3 { _ = fixture.add(number) }
        let actions = fixture.connected(2, canTake: 100, isMultiplexed: true)
        #expect(
            Set(actions.prefix(2).map { "\($0)" })
                == Set(([1, 3] as [UInt64]).map { "\(Action.abandon(Self.connection($0)))" })
        )
        #expect(
            Array(actions.dropFirst(2))
                == [begin(1, on: 2), begin(2, on: 2, isReused: true), begin(3, on: 2, isReused: true)]
        )
        #expect(fixture.add(4) == [begin(4, on: 2, isReused: true)])
    }

    @Test("makes HTTP/1.1 connections in place of the HTTP/2 ones of a server that requires HTTP/1.1")
    func requiresHTTP1() {
        var fixture = Fixture()
        _ = fixture.add(1)
        _ = fixture.connected(1, canTake: 1, isMultiplexed: true)
        #expect(fixture.add(2) == [connect(2)])
        #expect(fixture.add(3) == [])
        let actions = fixture.pool.requiresHTTP1(ids: &fixture.ids)
        #expect(actions == [.abandon(Self.connection(2)), .close(Self.connection(1)), connect(3), connect(4)])
        #expect(fixture.canTake(1, 2) == [])
        #expect(fixture.connected(3) == [begin(2, on: 3)])
        #expect(fixture.connected(4) == [begin(3, on: 4)])
    }

    @Test("makes a second HTTP/2 connection only when the first one is full")
    func full() {
        var fixture = Fixture()
        _ = fixture.add(1)
        _ = fixture.connected(1, canTake: 2, isMultiplexed: true)
        #expect(fixture.add(2) == [begin(2, on: 1, isReused: true)])
        #expect(fixture.add(3) == [connect(2)])
        #expect(fixture.add(4) == [])
        #expect(
            fixture.connected(2, canTake: 100, isMultiplexed: true)
                == [begin(3, on: 2), begin(4, on: 2, isReused: true)]
        )
    }

    @Test("counts exchanges that were promised to a connection when it reports what it can take")
    func promised() {
        var fixture = Fixture()
        _ = fixture.add(1)
        _ = fixture.connected(1, canTake: 3, isMultiplexed: true)
        _ = fixture.add(2)
        // Neither has begun yet, so of two places none is free.
        #expect(fixture.canTake(1, 2) == [])
        #expect(fixture.add(3) == [connect(2)])
        fixture.pool.begins(on: Self.connection(1))
        #expect(fixture.canTake(1, 2) == [begin(3, on: 1, isReused: true)])
    }

    @Test("gives the place of an exchange that is gone to the next one")
    func giveBack() {
        var fixture = Fixture(limit: 1)
        _ = fixture.add(1)
        _ = fixture.connected(1)
        _ = fixture.add(2)
        #expect(
            fixture.pool.giveBack(Self.connection(1), ids: &fixture.ids) == [begin(2, on: 1, isReused: true)]
        )
    }

    @Test("never uses a retired connection again")
    func retired() {
        var fixture = Fixture(limit: 2)
        _ = fixture.add(1)
        _ = fixture.connected(1)
        _ = fixture.finish(1)
        #expect(fixture.pool.isIdle(Self.connection(1)))
        fixture.pool.retire(Self.connection(1))
        #expect(!fixture.pool.isIdle(Self.connection(1)))
        #expect(fixture.add(2) == [connect(2)])
        #expect(fixture.canTake(1) == [])
    }

    @Test("calls a connection idle while it carries nothing")
    func idle() {
        var fixture = Fixture()
        _ = fixture.add(1)
        _ = fixture.connected(1)
        #expect(!fixture.pool.isIdle(Self.connection(1)))
        _ = fixture.finish(1)
        #expect(fixture.pool.isIdle(Self.connection(1)))
    }

    @Test("survives 100,000 random events without losing an exchange or exceeding the limit")
    func random() {
        var random = SeededGenerator(seed: 7)
        var fixture = Fixture(limit: 3)
        var nextExchange: UInt64 = 0
        var waiting: Set<UInt64> = []
        var running: [UInt64: UInt64] = [:]
        var connecting: Set<UInt64> = []
        var open: Set<UInt64> = []
        func carryOut(_ actions: [Action]) {
            for action in actions {
                switch action {
                case .connect(let id): connecting.insert(id.number)
                case .close: Issue.record("Nothing is closed, since all connections speak HTTP/1.1.")
                case .abandon(let id): #expect(connecting.remove(id.number) != nil)
                case .fail(let id, _): #expect(waiting.remove(id.number) != nil)
                case .begin(let id, let connection, _):
                    #expect(waiting.remove(id.number) != nil)
                    #expect(open.contains(connection.number))
                    #expect(!running.values.contains(connection.number))
                    fixture.pool.begins(on: connection)
                    running[id.number] = connection.number
                }
            }
        }
        for _ in 0..<100_000 {
            switch Int.random(in: 0..<7, using: &random) {
            case 0:
                nextExchange += 1
                waiting.insert(nextExchange)
                carryOut(fixture.add(nextExchange))
            case 1:
                guard let id = connecting.randomElement(using: &random) else { continue }
                connecting.remove(id)
                open.insert(id)
                carryOut(fixture.connected(id))
            case 2:
                guard let id = connecting.randomElement(using: &random) else { continue }
                connecting.remove(id)
                carryOut(fixture.pool.connectFailed(ConnectionID(number: id), TransportFailure(.unknown, "")))
            case 3:
                guard let (exchange, id) = running.randomElement(using: &random) else { continue }
                running[exchange] = nil
                fixture.pool.ended(on: ConnectionID(number: id))
                carryOut(fixture.canTake(id))
            case 4:
                guard let id = open.randomElement(using: &random) else { continue }
                open.remove(id)
                for (exchange, connection) in running where connection == id { running[exchange] = nil }
                carryOut(fixture.closed(id))
            case 5:
                guard let (exchange, id) = running.randomElement(using: &random) else { continue }
                running[exchange] = nil
                waiting.insert(exchange)
                carryOut(fixture.lost(exchange, on: id))
                open.remove(id)
                carryOut(fixture.closed(id))
            default:
                guard let exchange = waiting.randomElement(using: &random) else { continue }
                waiting.remove(exchange)
                carryOut(fixture.pool.remove(ExchangeID(number: exchange)))
            }
            #expect(open.count + connecting.count <= 3)
            // Whoever waits has a connection to wait for.
            #expect(waiting.isEmpty || !connecting.isEmpty || !running.isEmpty)
        }
    }
}
#endif
