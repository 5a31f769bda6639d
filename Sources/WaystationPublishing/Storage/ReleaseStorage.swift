import Foundation
import WaystationHTTP
import WaystationPacks
import WaystationStorage

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

/// The paths of a release's files: only letters, digits, `.`, `_` and `-`, so that they need no encoding in a URL.
struct ReleasePaths: Sendable {
    let module: ModuleID
    let version: PackVersion
    /// A folder below that of the version; nil where only one publisher at a time can write the files of a version.
    var attempt: String?

    /// The release's folder, relative to the release directory.
    var folder: String { "packs/\(module)/\(version)" + (attempt.map { "/" + $0 } ?? "") }
    /// The whole pack, relative to the release's folder.
    var archive: String { "\(module)-\(version).zip" }
    /// The folder of the patches, relative to the release's folder.
    var patches: String { "patches" }

    /// A patch, relative to the release's folder.
    func patch(_ kind: PatchOffer.Kind, from version: PackVersion) -> String {
        "\(patches)/\(version)-\(kind.rawValue).patch"
    }
}

/// Runs work that computes or waits for the disk away from Swift's threads; it is never cancelled halfway.
enum DiskWork {
    /// Runs the work, and converts errors of the disk to a `PackError` that names the task.
    static func run<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws(PackError) -> Value {
        try await BlockingWork.uncancelled { () throws(PackError) in try onDisk(task, body) }
    }

    private static func onDisk<Value>(_ task: String, _ body: () throws -> Value) throws(PackError) -> Value {
        do {
            return try body()
        } catch let error as PackError {
            throw error
        } catch let error as FileError where error.isFull {
            throw PackError(
                .noSpace,
                "the disk is full while \(task): free some space; the published packs are unchanged",
                cause: error
            )
        } catch {
            throw PackError(
                .fileSystem,
                "\(task) failed; try again, which also completes an unfinished change",
                cause: error
            )
        }
    }
}

/// Signs the catalogue of a changed index.
struct CatalogueSigner: Sendable {
    let keys: [SigningKey]
    let validity: Duration
    let now: @Sendable () -> Date

    /// Gives the index the next serial number, and signs its catalogue.
    ///
    /// - Parameters:
    ///   - index: The index, which gets the catalogue's times and its digest.
    ///   - place: The place of the index, for messages.
    /// - Returns: The signed catalogue.
    /// - Throws: ``PackError`` when no serial number is left, or when clients would refuse the catalogue for its size.
    func sign(_ index: inout ReleaseIndex, at place: String) throws -> Data {
        let (serial, overflow) = index.serial.addingReportingOverflow(1)
        guard !overflow else { throw PackError(.damaged, "the serial number in \(place) cannot grow any more") }
        // The dates are rounded to whole seconds, as they are written.
        let issued = Date(timeIntervalSince1970: now().timeIntervalSince1970.rounded(.down))
        let expires = issued.addingTimeInterval(validity.inSeconds)
        index.serial = serial
        index.issued = issued
        index.expires = expires
        index.keys = keys.map(\.trusted.id)
        let catalogue = try index.catalogue(issued: issued, expires: expires).signed(by: keys)
        guard catalogue.count <= CatalogueSource.standardMaximumSize else {
            throw PackError(
                .tooLarge,
                "the catalogue would have \(catalogue.count) bytes for \(index.releaseCount) releases, but clients read at "
                    + "most \(CatalogueSource.standardMaximumSize): remove old releases with `waystation prune`"
            )
        }
        index.catalogue = PackDigest(of: catalogue)
        return catalogue
    }
}
