#if NIO
import NIOCore
import Synchronization
import Waystation

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

/// The one time at which a transport looks for passed deadlines.
///
/// An arrival moves the deadline of its exchange but not the wake-up; so the wake-up may find nothing to do, and then
/// moves to the earliest deadline. That is cheaper than a scheduled task for each arrival.
struct WakeUp {
    /// The shortest time between two wake-ups, so that close deadlines are found together.
    static let tick = TimeAmount.milliseconds(10)

    /// The time of the wake-up that is scheduled.
    private(set) var time: NIODeadline?

    /// A deadline is running.
    ///
    /// - Returns: The time for which a wake-up must be scheduled instead of the present one, if any.
    mutating func add(_ deadline: NIODeadline, now: NIODeadline) -> NIODeadline? {
        let wanted = max(deadline, now + Self.tick)
        if let time, time <= wanted { return nil }
        time = wanted
        return wanted
    }

    /// The scheduled wake-up takes place.
    mutating func fired() { time = nil }
}
#endif
