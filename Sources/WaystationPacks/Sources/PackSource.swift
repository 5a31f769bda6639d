/// A source of updates, which can say what packs there are.
///
/// The library has sources for the format for one pack (``SinglePackSource``), for the format for many modules
/// (``ModuleListSource``) and for a signed static catalogue (``CatalogueSource``).
public protocol PackSource: Sendable {
    /// Asks the source once.
    ///
    /// May be called on any thread, and by several tasks at once. Cancelling the task stops the traffic.
    ///
    /// - Throws: ``PackError``.
    func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer

    /// Whether the source may offer patches from zip to zip, so that each zip must be kept beside its unpacked files;
    /// true by default.
    var offersZipPatches: Bool { get }
}

extension PackSource {
    /// True.
    public var offersZipPatches: Bool { true }
}
