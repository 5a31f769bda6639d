/// The actions by which a load controls the exchange, the fetch or the wait of a trip.
struct TripControl: Sendable {
    /// Ends it.
    let stop: @Sendable () -> Void
    /// Makes it rest, or go on; nil if it cannot rest.
    let rest: (@Sendable (_ rests: Bool) -> Void)?
    /// Leaves it to the cache, because the load has its answer; nil if it is of use to the load alone.
    let detach: (@Sendable () -> Void)?

    fileprivate func action(_ leaving: TripControls.Leaving) -> (@Sendable () -> Void)? {
        switch leaving {
        case .stopping: stop
        case .detaching: detach
        }
    }
}

/// The control of a load's present trip: a state machine without side effects.
///
/// An exchange may call its receiver within its start, so a trip may be left before its control is known. The trip is
/// left then as soon as its control is known.
struct TripControls: Sendable {
    /// The way in which a load leaves a trip that goes on.
    enum Leaving: Sendable {
        /// The rest of the response is not needed.
        case stopping
        /// The load has its answer, and the response is for the cache alone.
        case detaching
    }

    /// The control of the present trip; nil before it is known, and after the trip was left or has ended.
    private(set) var present: TripControl?
    /// The trips that were left before their controls were known.
    private var left: [Int: Leaving] = [:]

    /// Takes the control of a trip.
    ///
    /// - Parameters:
    ///   - control: The control.
    ///   - trip: The trip.
    ///   - isUnderWay: Whether the trip is the present one.
    /// - Returns: The action that is due because the trip was left before; nil if it was not.
    mutating func take(_ control: TripControl, of trip: Int, isUnderWay: Bool) -> (@Sendable () -> Void)? {
        if let leaving = left.removeValue(forKey: trip) { return control.action(leaving) }
        if isUnderWay { present = control }
        return nil
    }

    /// Leaves the present trip, whose exchange or fetch goes on.
    ///
    /// - Returns: The action that is due; nil if the control is not known yet.
    mutating func leave(_ trip: Int, _ leaving: Leaving) -> (@Sendable () -> Void)? {
        guard let control = present.take() else {
            left[trip] = leaving
            return nil
        }
        return control.action(leaving)
    }

    /// Forgets the present trip, because it has ended.
    ///
    /// - Returns: Its control, to be released outside of the caller's lock: an exchange is released with it, and its end
    ///   is code of its transport.
    mutating func end() -> TripControl? { present.take() }
}
