import Foundation
import WaystationPacks
import WaystationStorage

/// A release directory on a disk of this machine; changes wait for one another by a lock.
struct DirectoryStorage: ReleaseStorage {
    let environment: PackEnvironment
    let layout: ReleaseLayout
    /// The end of the error message with which every call fails; nil if the directory can be used.
    var problem: String?

    var name: String { layout.root }

    func index() async throws(PackError) -> ReleaseIndex {
        try await work("reading \(layout.root)") { try readIndex() }
    }

    func catalogue() async throws(PackError) -> Data? {
        try await work("reading \(layout.root)") {
            try environment.fileSystem.readFile(layout.catalogue, limit: ReleaseIndex.maximumSize)
        }
    }

    func prepare(
        _ zip: URL,
        for index: ReleaseIndex,
        _ plan: PreparationPlan,
        dryRun isDryRun: Bool
    ) async throws(PackError) -> PreparedRelease {
        try await work("preparing \(zip.lastPathComponent)") {
            let fileSystem = environment.fileSystem
            let staging: StagingDirectory
            if isDryRun {
                let temporary = FileManager.default.temporaryDirectory.path(percentEncoded: false)
                staging = try StagingDirectory(in: temporary, fileSystem: fileSystem)
            } else {
                try fileSystem.createPublicDirectory(layout.root)
                try fileSystem.createDirectory(layout.staging)
                _ = try StagingDirectory.removeLeftOvers(in: layout.staging, fileSystem)
                staging = try StagingDirectory(in: layout.staging, fileSystem: fileSystem)
            }
            return try PreparedRelease(of: zip, for: index, plan, in: staging) { layout.absolute($0.archive) }
        }
    }

    func change(
        adding prepared: PreparedRelease?,
        _ signer: CatalogueSigner,
        _ body: @escaping @Sendable (inout ReleaseIndex) throws -> Void
    ) async throws(PackError) -> ReleaseIndex {
        try await work("changing \(layout.root)") {
            // Discarded explicitly: the last reference may be released later, and on a thread that must not wait for
            // the disk.
            defer { prepared?.discard() }
            try environment.fileSystem.createPublicDirectory(layout.root)
            let lock = try environment.fileSystem.waitForLock(layout.lock)
            return try withExtendedLifetime(lock) {
                try removeHalfWritten()
                let before = try readIndex()
                var index = before
                try body(&index)
                if let prepared, before[prepared.paths.module]?.release(prepared.release.version) == nil {
                    try put(prepared)
                }
                // The index comes before the catalogue: otherwise a serial number that clients have seen could be used
                // again.
                let catalogue = try signer.sign(&index, at: layout.index)
                try environment.fileSystem.replaceFile(layout.index, with: try index.json())
                try environment.fileSystem.replacePublicFile(layout.catalogue, with: catalogue)
                return index
            }
        }
    }

    /// Removes the folders of versions that are not in the index.
    func removeUnnamed(removed paths: Set<String>, now: Date) async throws(PackError) {
        try await work("removing old releases from \(layout.root)") {
            let fileSystem = environment.fileSystem
            guard try fileSystem.status(of: layout.packs) != nil else { return }
            let lock = try fileSystem.waitForLock(layout.lock)
            try withExtendedLifetime(lock) {
                for module in try readIndex().modules {
                    for name in try fileSystem.contents(of: layout.module(module.module)) {
                        // A folder that is not named like a version does not belong to the publisher.
                        guard let version = PackVersion(name), module.release(version) == nil else { continue }
                        try fileSystem.removeTree("\(layout.module(module.module))/\(name)")
                    }
                }
            }
        }
    }

    /// Runs work on the directory.
    private func work<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws(PackError) -> Value {
        if let problem { throw PackError(.invalidArgument, "the release directory \(problem)") }
        return try await DiskWork.run(task, body)
    }

    private func readIndex() throws -> ReleaseIndex {
        let fileSystem = environment.fileSystem
        var json = try fileSystem.readFile(layout.index, limit: ReleaseIndex.maximumSize)
        if json == nil {
            guard try fileSystem.status(of: layout.catalogue) != nil else { return ReleaseIndex() }
            // Another publisher may have made both meanwhile; it writes the index first.
            json = try fileSystem.readFile(layout.index, limit: ReleaseIndex.maximumSize)
        }
        guard let json else { throw ReleaseIndex.missing(at: layout.root, beside: "catalogue.json") }
        return try ReleaseIndex(json: json, path: layout.index)
    }

    /// Deletes the temporary files of a process that was killed while it replaced a file; no other process writes now.
    private func removeHalfWritten() throws {
        let fileSystem = environment.fileSystem
        for path in [layout.index, layout.catalogue] {
            let prefix = (path as NSString).lastPathComponent + "."
            for name in try fileSystem.contents(of: layout.root) where name.hasPrefix(prefix) {
                // Other files may lie beside these, such as `catalogue.json.gz`.
                guard RandomName.isPossible(String(name.dropFirst(prefix.count))) else { continue }
                try fileSystem.removeFile("\(layout.root)/\(name)")
            }
        }
    }

    /// Moves a prepared release into place; files that are already there were never published.
    private func put(_ prepared: PreparedRelease) throws {
        guard let folder = prepared.folder else {
            throw PackError(.fileSystem, "\(layout.index) was replaced while publishing; try again")
        }
        let fileSystem = environment.fileSystem
        let place = layout.release(prepared.release.version, of: prepared.paths.module)
        try fileSystem.createPublicDirectory(layout.module(prepared.paths.module))
        try fileSystem.removeTree(place)
        try fileSystem.rename(folder, to: place)
        for directory in [layout.module(prepared.paths.module), layout.packs, layout.root] {
            try fileSystem.synchronizeDirectory(directory)
        }
    }
}

/// The paths in a release directory; see ``ReleaseDirectory``.
struct ReleaseLayout: Sendable {
    let root: String

    init(root: String) { self.root = root.trimmingTrailingSlash }

    var lock: String { root + "/lock" }
    var index: String { root + "/releases.json" }
    var catalogue: String { root + "/catalogue.json" }
    var staging: String { root + "/staging" }
    var packs: String { root + "/packs" }

    func module(_ module: ModuleID) -> String { "\(packs)/\(module)" }
    func release(_ version: PackVersion, of module: ModuleID) -> String { "\(self.module(module))/\(version)" }
    func absolute(_ file: ReleaseIndex.File) -> String { "\(root)/\(file.path)" }
}
