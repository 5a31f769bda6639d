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
    /// Receives the identifiers of the rows that were written.
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
