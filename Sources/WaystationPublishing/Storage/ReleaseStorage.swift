import Foundation
import WaystationPacks

/// The place of a release directory's files: a directory of this machine, or a bucket.
protocol ReleaseStorage: Sendable {
    /// The place, for messages.
    var name: String { get }

    /// Reads the present index; it is empty if nothing was published.
    func index() async throws(PackError) -> ReleaseIndex

    /// Reads the present catalogue; nil if nothing was published.
    func catalogue() async throws(PackError) -> Data?

    /// Copies a pack, verifies it, and makes the patches that lead to it.
    ///
    /// - Parameters:
    ///   - zip: The pack.
    ///   - index: The present index.
    ///   - plan: The settings.
    ///   - isDryRun: Whether nothing may be written into the directory.
    /// - Returns: The release, whose files are on this machine.
    /// - Throws: ``PackError`` when the pack is not valid or may not be published.
    func prepare(
        _ zip: URL,
        for index: ReleaseIndex,
        _ plan: PreparationPlan,
        dryRun isDryRun: Bool
    ) async throws(PackError) -> PreparedRelease

    /// Changes the index, puts the files of a new release in place before it, and the catalogue after it.
    ///
    /// - Parameters:
    ///   - prepared: The release whose files are needed after the change; it is discarded.
    ///   - signer: Makes the catalogue of the changed index.
    ///   - body: Makes the change. It is called again when another publisher has changed the index meanwhile.
    /// - Returns: The changed index.
    /// - Throws: ``PackError``, also that of `body`.
    func change(
        adding prepared: PreparedRelease?,
        _ signer: CatalogueSigner,
        _ body: @escaping @Sendable (inout ReleaseIndex) throws -> Void
    ) async throws(PackError) -> ReleaseIndex

    /// Removes files of releases that are not in the index.
    ///
    /// - Parameters:
    ///   - paths: The files of releases that this publisher has just removed from the index.
    ///   - now: The present time on this machine, for a store that does not report its own.
    /// - Throws: ``PackError`` when a file cannot be removed.
    func removeUnnamed(removed paths: Set<String>, now: Date) async throws(PackError)
}
