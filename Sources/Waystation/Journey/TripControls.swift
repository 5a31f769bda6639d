/// The actions by which a load controls the exchange, the fetch or the wait of a trip.
struct TripControl: Sendable {
    /// Ends it.
    let stop: @Sendable () -> Void
    /// Makes it rest, or go on; nil if it cannot rest.
    let rest: (@Sendable (_ rests: Bool) -> Void)?
}

/// The control of a load's present trip: a state machine without side effects.
///
/// An exchange may call its receiver within its start, so a trip may be left before its control is known. The trip is
/// left then as soon as its control is known.
struct TripControls: Sendable {
    /// The control of the present trip; nil before it is known, and after the trip was left or has ended.
    private(set) var present: TripControl?
    /// The trips that were left before their controls were known.
    private var left: Set<Int> = []

    /// Takes the control of a trip.
    ///
    /// - Parameters:
    ///   - control: The control.
    ///   - trip: The trip.
    ///   - isUnderWay: Whether the trip is the present one.
    /// - Returns: The action that is due because the trip was left before; nil if it was not.
    mutating func take(_ control: TripControl, of trip: Int, isUnderWay: Bool) -> (@Sendable () -> Void)? {
        guard left.remove(trip) == nil else { return control.stop }
        if isUnderWay { present = control }
        return nil
    }

    /// Leaves the present trip, whose exchange or fetch goes on.
    ///
    /// - Returns: The action that is due; nil if the control is not known yet.
    mutating func leave(_ trip: Int) -> (@Sendable () -> Void)? {
        guard let control = present.take() else {
            left.insert(trip)
            return nil
        }
        return control.stop
    }

    /// Forgets the present trip, because it has ended.
    mutating func end() { present = nil }
}
