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

    /// The number of the last message whose effect is complete; nil if it is unknown.
    private(set) var last: UInt64?

    init(last: UInt64?) { self.last = last }

    /// A subscription has begun.
    ///
    /// - Returns: Whether messages may have been missed.
    mutating func begin(after number: UInt64) -> Bool {
        defer { last = number }
        return last != number
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
