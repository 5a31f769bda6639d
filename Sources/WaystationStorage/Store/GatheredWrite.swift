/// A write that was handed over: one change of the index, which comes to its own result whatever others it is made with.
///
/// `prepare` and `finish` are called on the write queue, each once.
struct GatheredWrite: Sendable {
    /// What it does, for the store's events.
    let task: String
    let key: RequestKey?
    /// What it holds in memory, about.
    let bytes: Int
    let prepare: @Sendable () throws(StoreError) -> RowChange
    /// Told the identifiers of the rows that were written.
    let finish: @Sendable (Result<[Int64], StoreError>) -> Void

    init(
        task: String,
        key: RequestKey?,
        bytes: Int,
        prepare: @escaping @Sendable () throws(StoreError) -> RowChange,
        finish: @escaping @Sendable (Result<[Int64], StoreError>) -> Void
    ) {
        self.task = task
        self.key = key
        self.bytes = bytes
        self.prepare = prepare
        self.finish = finish
    }
}
