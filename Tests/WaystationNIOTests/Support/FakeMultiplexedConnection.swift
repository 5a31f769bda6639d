#if NIO
import NIOCore
import Synchronization

@testable import WaystationNIO

/// Stands in for an HTTP/2 connection: it answers every request itself, with the target as the body.
final class FakeMultiplexedConnection: ExchangeConnection {
    /// The calls to all such connections of a test.
    final class Log: Sendable {
        struct State {
            var connections = 0
            var begun: [String] = []
            var cancelled = 0
        }
        let state = Mutex(State())
    }

    private let channel: any Channel
    private let owner: any ConnectionOwner
    private let log: Log
    private let capacity: Int
    private let answers: Bool
    /// The number of requests to refuse before the first is answered.
    private var refusals: Int
    private var running: [any ConnectionExchange] = []
    private var closes = false

    init(
        _ channel: any Channel,
        _ owner: any ConnectionOwner,
        _ log: Log,
        capacity: Int = 100,
        refusals: Int = 0,
        answers: Bool = true
    ) {
        self.channel = channel
        self.owner = owner
        self.log = log
        self.capacity = capacity
        self.refusals = refusals
        self.answers = answers
        log.state.withLock { $0.connections += 1 }
        owner.connection(self, canTake: capacity)
        let bound = NIOLoopBound(self, eventLoop: channel.eventLoop)
        channel.closeFuture.whenComplete { _ in
            bound.value.owner.connectionDidClose(bound.value)
        }
    }

    func begin(_ exchange: any ConnectionExchange) {
        running.append(exchange)
        log.state.withLock { $0.begun.append(exchange.requestHead.target) }
        report()
        let isRefused = refusals > 0
        refusals -= 1
        guard answers || isRefused else { return }
        // The answer comes in a later turn of the loop, as from a server.
        channel.eventLoop.assumeIsolated().execute {
            guard self.running.contains(where: { $0 === exchange }) else { return }
            self.remove(exchange)
            if isRefused {
                exchange.end(.unprocessed(.nothingAnswered, "refused"))
            } else {
                exchange.take(EngineResponseHead(status: 200, fields: []))
                _ = exchange.take(ByteBuffer(string: exchange.requestHead.target))
                exchange.end(nil)
            }
            self.report()
        }
    }

    func cancel(_ exchange: any ConnectionExchange) {
        remove(exchange)
        log.state.withLock { $0.cancelled += 1 }
        report()
    }

    func resume(_ exchange: any ConnectionExchange) {}

    func send(_ part: ByteBuffer, isLast: Bool, of exchange: any ConnectionExchange) {}

    func closeWhenIdle() {
        closes = true
        report()
    }

    private func remove(_ exchange: any ConnectionExchange) { running.removeAll { $0 === exchange } }

    private func report() {
        if closes, running.isEmpty { return channel.close(promise: nil) }
        owner.connection(self, canTake: capacity - running.count)
    }
}
#endif
