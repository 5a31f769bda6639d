/// Writes that were handed over and are to be made together.
///
/// The first after idleness is due at once. From then on what comes waits for the end of the interval, or until it is
/// much; an interval in which nothing came ends the pacing.
struct WriteGathering<Write: Sendable>: Sendable {
    /// So many are due.
    static var maximumCount: Int { 64 }
    /// Those that hold so many bytes are due.
    static var maximumBytes: Int { 4 << 20 }

    private(set) var writes: [Write] = []
    private var bytes = 0
    private var isPaced = false

    /// What is to be done about a write that was added.
    struct Step: Sendable {
        /// What is to be written now, in order.
        var due: [Write] = []
        /// Whether an interval begins; ``endInterval()`` must be called at its end.
        var startsInterval = false
    }

    /// Adds a write.
    mutating func add(_ write: Write, bytes count: Int) -> Step {
        writes.append(write)
        bytes += count
        guard isPaced else {
            isPaced = true
            return Step(due: take(), startsInterval: true)
        }
        let isMuch = writes.count >= Self.maximumCount || bytes >= Self.maximumBytes
        return Step(due: isMuch ? take() : [])
    }

    /// Ends an interval; another begins if something was gathered in this one.
    mutating func endInterval() -> Step {
        isPaced = !writes.isEmpty
        return Step(due: take(), startsInterval: isPaced)
    }

    /// Gives what is gathered to whoever writes it before its time.
    mutating func take() -> [Write] {
        defer { (writes, bytes) = ([], 0) }
        return writes
    }
}
