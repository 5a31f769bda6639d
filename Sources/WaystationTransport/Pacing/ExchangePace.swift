/// Whether an exchange reads from the network, as its user wants it and as the exchange was called: a state machine
/// without side effects.
///
/// The calls are made outside of the user's lock. Only one thread makes them at a time, so that the last call is always
/// that of the last wish.
package struct ExchangePace: Sendable {
    /// Whether the exchange is to stop reading.
    package var isPaused = false
    /// Whether the last call stopped it.
    private var wasPaused = false
    private var isCalling = false

    package init() {}

    /// Returns the call to make now: true for `pause`, false for `resume`.
    ///
    /// It returns nil if no call is due. It also returns nil while another thread makes a call: that thread then makes
    /// this one, too.
    ///
    /// The caller makes the call, and then calls ``callEnded()`` and this again.
    package mutating func nextCall() -> Bool? {
        guard !isCalling, wasPaused != isPaused else { return nil }
        isCalling = true
        wasPaused = isPaused
        return isPaused
    }

    /// The call of ``nextCall()`` has returned.
    package mutating func callEnded() { isCalling = false }

    /// Another exchange takes the place of the present one; it reads until it is called.
    package mutating func restart() { wasPaused = false }
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
