/// The numbers of the messages that a machine has received: finds out whether it may have missed one.
struct MessageSequence: Sendable {
    enum Step: Hashable, Sendable {
        /// The message is the next one.
        case apply
        /// The message was received before.
        case ignore
        /// Messages before this one were missed.
        case missed
    }

    enum Beginning: Hashable, Sendable {
        /// No message was missed.
        case complete
        /// Messages may have been missed.
        case missed
        /// The number is one that the tier had before: the tier has lost what it got since then.
        case setBack
    }

    /// The number of the last message whose effect is complete; nil if it is unknown.
    private(set) var last: UInt64?
    /// Whether the last number is one of this tier, and not one of an earlier run, which may have used another tier.
    private var isOfTier = false

    init(last: UInt64?) { self.last = last }

    /// A subscription has begun.
    ///
    /// - Parameter number: The number of the last message before it.
    /// - Returns: How this number follows the last one.
    mutating func begin(after number: UInt64) -> Beginning {
        defer { (last, isOfTier) = (number, true) }
        guard let last, last != number else { return last == nil ? .missed : .complete }
        return number < last && isOfTier ? .setBack : .missed
    }

    /// A message has arrived.
    mutating func receive(_ number: UInt64) -> Step {
        guard let last else {
            self.last = number
            return .missed
        }
        guard number > last else { return .ignore }
        self.last = number
        return number - last == 1 ? .apply : .missed
    }
}
