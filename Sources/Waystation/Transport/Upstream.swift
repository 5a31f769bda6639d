package import Synchronization

/// The exchange from which a receiver gets its response, and the demand of the receiver: a state machine without side
/// effects.
///
/// A transport may call its receiver before it returns the exchange. So the receiver may cancel the exchange, or begin the
/// next one, before it has the exchange. This type remembers a cancel, and cancels the exchange as soon as it gets it.
///
/// An exchange is code of its transport. So it is never called or released within the lock of the receiver: the functions
/// of this type return the exchange with the call that is due, and the functions of `Mutex` make the call.
package struct Upstream: Sendable {
    /// The way in which a receiver leaves an exchange that goes on.
    package enum Leaving: Sendable {
        /// The rest of the response is not needed.
        case cancelling
        /// The response is of use to others, such as a cache: the exchange goes on for them.
        case detaching
    }

    /// An exchange that its receiver does not keep any longer; to be released outside of the receiver's lock.
    package struct Left: Sendable {
        fileprivate let exchange: any TransportExchange
        /// Nil if the exchange has ended.
        fileprivate let leaving: Leaving?

        /// Cancels or detaches the exchange, if it has not ended.
        package func carryOut() {
            switch leaving {
            case .cancelling: exchange.cancel()
            case .detaching: (exchange as? any DetachableExchange)?.detach()
            case nil: break
            }
        }
    }

    /// Whether the receiver can take no more for now; it may be set at any time.
    package var isPaused = false
    /// Whether the last call paused the exchange.
    private var wasPaused = false
    private var isCalling = false

    /// The number of the exchange that is under way; nil before the first one, and when it has ended or was left.
    private var present: Int?
    /// The exchange that is under way; nil until the transport has returned it.
    private var exchange: (any TransportExchange)?
    /// The exchanges that the receiver left before it had them.
    private var left: [Int: Leaving] = [:]

    package init() {}

    /// Begins an exchange in place of the one before, which is not cancelled: a receiver leaves it first if it goes on.
    ///
    /// - Parameter number: The number of the exchange, which no other one of this receiver has.
    /// - Returns: The exchange before.
    package mutating func begin(_ number: Int) -> Left? {
        defer { present = number }
        return end()
    }

    /// Takes an exchange that has started.
    ///
    /// - Returns: The exchange, if it was left or has ended meanwhile.
    fileprivate mutating func take(_ exchange: any TransportExchange, _ number: Int) -> Left? {
        guard number == present else {
            return Left(exchange: exchange, leaving: left.removeValue(forKey: number))
        }
        self.exchange = exchange
        // It reads until it is called.
        wasPaused = false
        return nil
    }

    /// Leaves the exchange that is under way; if no exchange is under way, the function does nothing.
    package mutating func leave(_ leaving: Leaving) -> Left? {
        guard let number = present.take() else { return nil }
        guard let exchange = exchange.take() else {
            left[number] = leaving
            return nil
        }
        return Left(exchange: exchange, leaving: leaving)
    }

    /// Forgets the exchange that is under way, because it has ended.
    package mutating func end() -> Left? {
        present = nil
        return exchange.take().map { Left(exchange: $0, leaving: nil) }
    }

    /// The call that is due: the exchange pauses, or resumes.
    ///
    /// It returns nil while another thread makes a call: that thread then makes this one, too. So the last call always
    /// sets the last value of ``isPaused``. The caller makes the call, and then calls ``callEnded()`` and this again.
    fileprivate mutating func nextCall() -> (exchange: any TransportExchange, isPaused: Bool)? {
        guard !isCalling, wasPaused != isPaused, let exchange else { return nil }
        isCalling = true
        wasPaused = isPaused
        return (exchange, isPaused)
    }

    /// The call of ``nextCall()`` has returned.
    fileprivate mutating func callEnded() { isCalling = false }
}

/// The state of a receiver, behind a lock.
package protocol Downstream: Sendable {
    var upstream: Upstream { get set }
}

extension Mutex where Value: Downstream {
    /// Takes an exchange that has started.
    ///
    /// - Parameters:
    ///   - exchange: The exchange.
    ///   - number: The number with which it was begun.
    package func take(_ exchange: any TransportExchange, _ number: Int) {
        withLock { $0.upstream.take(exchange, number) }?.carryOut()
        keepPace()
    }

    /// Pauses or resumes the exchange, now if the transport has returned it, otherwise as soon as it does.
    package func pause(_ isPaused: Bool) {
        withLock { $0.upstream.isPaused = isPaused }
        keepPace()
    }

    /// Pauses or resumes the exchange, until its state is that of ``Upstream/isPaused``.
    package func keepPace() {
        while let (exchange, isPaused) = withLock({ $0.upstream.nextCall() }) {
            if isPaused { exchange.pause() } else { exchange.resume() }
            withLock { $0.upstream.callEnded() }
        }
    }
}

/// An exchange that can go on without its receiver.
package protocol DetachableExchange: TransportExchange {
    /// Lets the exchange go on for others; the receiver needs no more of the response.
    func detach()
}

/// Work that can only be cancelled, in the place of an exchange.
package struct CancellableWork: TransportExchange {
    private let work: @Sendable () -> Void

    /// - Parameter work: Cancels the work.
    package init(cancelling work: @escaping @Sendable () -> Void) { self.work = work }

    package func cancel() { work() }
}

/// The number of bytes that may wait for one recipient: a state machine without side effects.
///
/// The two limits keep an exchange from being called for every part.
package struct WaitingBytes: Sendable {
    /// The number of bytes above which the exchange stops reading.
    package static let upperLimit = 256 << 10
    /// The number of bytes at which it reads again.
    package static let lowerLimit = 64 << 10

    /// Whether too many bytes wait.
    package private(set) var isOver = false

    package init() {}

    /// Takes the present number of waiting bytes; returns whether ``isOver`` has changed.
    package mutating func update(_ count: Int) -> Bool {
        let isOver = count > (self.isOver ? Self.lowerLimit : Self.upperLimit)
        defer { self.isOver = isOver }
        return isOver != self.isOver
    }
}
