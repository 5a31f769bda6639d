#if NIO
import NIOCore
import Synchronization
import WaystationTransport

/// Carries what apps ask for from their threads to the event loop, in order, with one hop for a batch.
final class Inbox: Sendable {
    enum Command: Sendable {
        case start(ExchangeOrder)
        /// The request cannot be sent; its receiver gets the error.
        case refuse(any TransportReceiver, any Error)
        case cancel(ExchangeID)
        case pause(ExchangeID)
        case resume(ExchangeID)
        /// The transport is gone: connections close when their exchanges end.
        case retire
    }

    private struct State {
        var commands: [Command] = []
        var lastExchange: UInt64 = 0
    }

    private let loop: any EventLoop
    private let engine: NIOLoopBoundBox<Engine>
    private let state = Mutex(State())

    init(_ engine: NIOLoopBoundBox<Engine>, loop: any EventLoop) {
        self.engine = engine
        self.loop = loop
    }

    /// An identity for the next exchange.
    func nextExchange() -> ExchangeID {
        state.withLock { state in
            state.lastExchange &+= 1
            return ExchangeID(number: state.lastExchange)
        }
    }

    /// Hands a command over to the event loop.
    func post(_ command: Command) {
        let isFirst = state.withLock { state in
            state.commands.append(command)
            return state.commands.count == 1
        }
        guard isFirst else { return }
        loop.execute { self.drain() }
    }

    private func drain() {
        let commands = state.withLock { state in
            defer { state.commands = [] }
            return state.commands
        }
        let engine = engine.value
        // A request whose cancel is already here is not sent at all.
        let cancelled = Set(commands.lazy.compactMap { if case .cancel(let id) = $0 { id } else { nil } })
        for command in commands {
            if case .start(let order) = command, cancelled.contains(order.id) { continue }
            engine.perform(command)
        }
    }
}

/// The app's end of an exchange.
struct ExchangeHandle: TransportExchange {
    let id: ExchangeID
    let inbox: Inbox

    func cancel() { inbox.post(.cancel(id)) }
    func pause() { inbox.post(.pause(id)) }
    func resume() { inbox.post(.resume(id)) }
}
#endif
