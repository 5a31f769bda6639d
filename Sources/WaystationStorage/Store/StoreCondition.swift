/// The current problems of a store: the events of problems that have not passed since.
struct StoreCondition: Sendable {
    /// The index had to be replaced by a new one in this run.
    var replacedIndex: StoreEvent?
    /// The store cannot be opened.
    var closed: StoreEvent?
    /// The disk does not answer.
    var hanging: StoreEvent?
    /// The disk was full at the last write to it.
    var full: StoreEvent?

    /// The events that apply now; `isPaused` is whether writes are paused because the disk was full.
    func events(isPaused: Bool) -> [StoreEvent] {
        [replacedIndex, closed, hanging, isPaused ? full : nil].compactMap(\.self)
    }
}
