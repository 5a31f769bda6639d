/// What is wrong with a store: the events that reported what has not passed since.
struct StoreCondition: Sendable {
    /// The index had to be begun anew in this run.
    var replacedIndex: StoreEvent?
    /// The store cannot be opened.
    var closed: StoreEvent?
    /// The disk does not answer.
    var hanging: StoreEvent?
    /// The disk was full when it was last written to.
    var full: StoreEvent?

    /// What holds now; `isPaused` says whether writes pause because the disk was full.
    func events(isPaused: Bool) -> [StoreEvent] {
        [replacedIndex, closed, hanging, isPaused ? full : nil].compactMap(\.self)
    }
}
