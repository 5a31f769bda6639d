import WaystationCaching

/// Writes that were handed over and are to be made together.
///
/// The first write after an idle period is due at once. Later writes wait for the end of the interval, or until there
/// are many or large ones; an interval in which no write came ends the gathering. It also counts the jobs of the write
/// queue that wait, because writes take their time only if no job does.
struct WriteGathering<Write: Sendable>: Sendable {
    /// The writes are due when there are this many.
    static var maximumCount: Int { 64 }
    /// The writes are due when they hold this many bytes.
    private let maximumBytes: Int

    private(set) var writes: [Write] = []
    private var bytes = 0
    private var isPaced = false
    /// The number of jobs on the write queue that have not begun.
    private var waiting = 0

    init(maximumBytes: Int = 4 << 20) { self.maximumBytes = maximumBytes }

    /// The caller's next steps after a write was added.
    struct Step: Sendable {
        /// The writes to make now, in order.
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
        let isMuch = writes.count >= Self.maximumCount || bytes >= maximumBytes
        return Step(due: isMuch ? take() : [])
    }

    /// Ends an interval; another begins if something was gathered in this one.
    mutating func endInterval() -> Step {
        isPaced = !writes.isEmpty
        return Step(due: take(), startsInterval: isPaced)
    }

    /// Returns the gathered writes, for a caller that makes them before the end of the interval.
    mutating func take() -> [Write] {
        defer { (writes, bytes) = ([], 0) }
        return writes
    }

    /// Records that a job was put on the write queue.
    mutating func jobWasQueued() { waiting += 1 }

    /// Records that a job of the write queue begins.
    ///
    /// - Returns: Whether no other job waits.
    mutating func jobBegins() -> Bool {
        waiting -= 1
        return waiting == 0
    }
}

/// A write that was handed over: one change of the index, which gets its own result even when it shares a transaction
/// with other writes.
///
/// `prepare` and `finish` are called on the write queue, once each.
struct GatheredWrite: Sendable {
    /// The name of the operation, for the store's events.
    let task: String
    let key: RequestKey?
    /// The approximate memory that it holds.
    let bytes: Int
    let prepare: @Sendable () throws(StoreError) -> RowChange
    /// Receives the identifier of the row that was written; `nil` if the row no longer exists.
    let finish: @Sendable (Result<Int64?, StoreError>) -> Void
}
