public import Foundation
import Synchronization
import WaystationFileSystem

extension PackLibrary {
    /// Installs the files of a folder, which are copied.
    ///
    /// A manifest in it (`waystation-pack.json`) must fit its files; without one, `description` says what the pack is.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - description: What the pack is, where the folder has no manifest; a manifest wins.
    ///   - isActivated: Whether the version answers from now on; true by default.
    /// - Returns: The version.
    /// - Throws: ``PackError`` when the folder has no manifest and is not described, when a file is not what the
    ///   manifest says, for links and special files in it, when the disk fails, and when the task is cancelled before
    ///   the version takes its place. Nothing is changed then, and nothing is left of the copy.
    @discardableResult
    public func install(
        folder: URL,
        as description: PackDescription? = nil,
        activating isActivated: Bool = true
    ) async throws(PackError) -> InstalledPack {
        let source = folder.path(percentEncoded: false).trimmingTrailingSlash
        return try await BlockingWork.run { [self] () throws(PackError) in
            let staged = try await stage(folder: source, as: description)
            return try await commit(staged, activating: isActivated, onTrial: false)
        }
    }

    private func stage(folder source: String, as description: PackDescription?) async throws(PackError) -> StagedPack {
        try await onDisk("copying \(source)") {
            let staging = try PackStaging(in: layout, environment.fileSystem)
            let paths = try environment.fileSystem.filePaths(below: source)
            let files = Mutex<[PackedFile]>([])
            try await BlockingWork.forEach(paths.filter { $0 != PackManifest.fileName }) { path in
                let original = try FileSource(self.environment.fileSystem.openFile("\(source)/\(path)"))
                let copied = try staging.copy(original, to: path)
                files.withLock { $0.append(PackedFile(path: path, size: copied.size, sha256: copied.sha256)) }
            }
            let json = try environment.fileSystem.readFile(
                "\(source)/\(PackManifest.fileName)",
                limit: PackManifest.maximumSize
            )
            return try stage(staging, json: json, found: files.withLock { $0 }, description)
        }
    }

    /// Compares what was found with its manifest, or makes one of it, and seals the version.
    func stage(
        _ staging: PackStaging,
        json: Data?,
        found: [PackedFile],
        _ description: PackDescription?
    ) throws -> StagedPack {
        if let json {
            let manifest = try PackManifest(json: json)
            try manifest.checkListing(found)
            try staging.seal(json)
            return StagedPack(staging: staging, manifest: manifest, json: json)
        }
        guard let description else {
            throw PackError(
                .invalidManifest,
                "the pack has no \(PackManifest.fileName): build it with one, or say what it is with a PackDescription"
            )
        }
        let manifest = try description.manifest(of: found)
        let json = try manifest.json()
        try staging.seal(json)
        return StagedPack(staging: staging, manifest: manifest, json: json)
    }

    /// Runs work that waits for the disk away from Swift's threads, and names what it throws.
    func blocking<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(PackError) -> Value {
        try await BlockingWork.run { [self] () throws(PackError) in try await onDisk(task, body) }
    }
}

extension PackManifest {
    /// Compares what a pack holds with what its manifest lists.
    ///
    /// - Throws: ``PackError`` naming the first file that is missing, that differs, or that is not listed.
    func checkListing(_ found: [PackedFile]) throws(PackError) {
        var rest = Dictionary(found.map { ($0.path, $0) }) { first, _ in first }
        for file in files {
            guard let there = rest.removeValue(forKey: file.path) else {
                throw PackError(
                    .damaged,
                    "\"\(file.path)\" is in the manifest of \(module) \(version) and not in the pack"
                )
            }
            guard there.size == file.size, there.sha256 == file.sha256 else {
                throw PackError(
                    .damaged,
                    "\"\(file.path)\" is not what the manifest of \(module) \(version) says: build the pack anew, "
                        + "or fetch it again"
                )
            }
        }
        if let extra = rest.keys.min() {
            throw PackError(.damaged, "\"\(extra)\" is in the pack and not in the manifest of \(module) \(version)")
        }
    }
}

extension String {
    var trimmingTrailingSlash: String { count > 1 && hasSuffix("/") ? String(dropLast()) : self }
}
