/// Where it is known which packs there are.
///
/// Ready-made ones speak the format for one pack (``SinglePackSource``), the one for many modules (``ModuleListSource``)
/// and a signed static catalogue (``CatalogueSource``).
public protocol PackSource: Sendable {
    /// Asks once.
    ///
    /// May be called on any thread, and by several tasks at once. Cancelling the task stops the traffic.
    ///
    /// - Throws: ``PackError``.
    func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer
}
