#if Gateway
import NIOCore
import Synchronization

/// The open connections of a gateway.
final class Connections: Sendable {
    private let limit: Int
    private struct State {
        var channels: [ObjectIdentifier: any Channel] = [:]
        var hasEnded = false
    }

    private let open = Mutex(State())

    init(limit: Int) { self.limit = limit }

    /// Adds a connection until it is closed.
    ///
    /// - Returns: False if there are too many, or if the gateway has ended.
    func add(_ channel: any Channel) -> Bool {
        let id = ObjectIdentifier(channel)
        let isAdded = open.withLock { open in
            guard open.channels.count < limit, !open.hasEnded else { return false }
            open.channels[id] = channel
            return true
        }
        guard isAdded else { return false }
        channel.closeFuture.whenComplete { [weak self] _ in
            _ = self?.open.withLock { $0.channels.removeValue(forKey: id) }
        }
        return true
    }

    /// Asks all connections to end after their present requests, and closes the rest when the time is over.
    func end(within grace: TimeAmount, on loop: any EventLoop) async {
        let channels = open.withLock { open in
            open.hasEnded = true
            return Array(open.channels.values)
        }
        for channel in channels { channel.pipeline.fireUserInboundEventTriggered(GatewayStop()) }
        let timer = loop.scheduleTask(in: grace) { for channel in channels { channel.close(promise: nil) } }
        for channel in channels { try? await channel.closeFuture.get() }
        timer.cancel()
    }
}
#endif
