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

    /// Whether it may offer patches from zip to zip, so that each zip must be kept beside its unpacked files; true by
    /// default.
    var offersZipPatches: Bool { get }
}

extension PackSource {
    /// True.
    public var offersZipPatches: Bool { true }
}
