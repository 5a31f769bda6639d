import WaystationCaching

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
