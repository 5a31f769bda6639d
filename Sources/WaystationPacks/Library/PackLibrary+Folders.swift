public import Foundation
import Synchronization
import WaystationFields
import WaystationFileSystem

extension PackLibrary {
    /// Installs a copy of a folder's files.
    ///
    /// A manifest in it (`waystation-pack.json`) must match its files; without one, `description` gives the pack's
    /// properties.
    ///
    /// - Parameters:
    ///   - folder: The folder.
    ///   - description: The pack's properties if the folder has no manifest; a manifest takes precedence.
    ///   - isActivated: Whether the version becomes the active one; true by default.
    /// - Returns: The installed version.
    /// - Throws: ``PackError`` when there is neither a manifest nor a description, when a file does not match the
    ///   manifest, when the folder holds links or special files, when the disk fails, and when the task is cancelled
    ///   before the version is moved into place. Nothing is changed then, and nothing is left of the copy.
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

    /// Compares the files with the pack's manifest, or makes a manifest for them, and seals the version.
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
                """
                the pack has no \(PackManifest.fileName): build it with one, or state its module, version and base URLs \
                (in code as a PackDescription, for the tool with --module, --pack-version and --base-url)
                """
            )
        }
        let manifest = try description.manifest(of: found)
        let json = try manifest.json()
        try staging.seal(json)
        return StagedPack(staging: staging, manifest: manifest, json: json)
    }

    /// Runs work that waits for the disk away from Swift's threads, and converts its errors.
    func blocking<Value: Sendable>(
        _ task: String,
        _ body: @escaping @Sendable () async throws -> Value
    ) async throws(PackError) -> Value {
        try await BlockingWork.run { [self] () throws(PackError) in try await onDisk(task, body) }
    }
}

extension PackManifest {
    /// Compares the files of a pack with the list in its manifest.
    ///
    /// - Throws: ``PackError`` that names the first file that is missing, differs or is not listed.
    func checkListing(_ found: [PackedFile]) throws(PackError) {
        var rest = Dictionary(found.map { ($0.path, $0) }) { first, _ in first }
        for file in files {
            guard let there = rest.removeValue(forKey: file.path) else {
                throw PackError(
                    .damaged,
                    "\(file.path.quoted()) is in the manifest of \(module) \(version) but not in the pack"
                )
            }
            guard there.size == file.size, there.sha256 == file.sha256 else {
                throw PackError(
                    .damaged,
                    "\(file.path.quoted()) does not match the manifest of \(module) \(version): rebuild the pack, "
                        + "or fetch it again"
                )
            }
        }
        if let extra = rest.keys.min() {
            throw PackError(
                .damaged,
                "\(extra.quoted()) is in the pack but not in the manifest of \(module) \(version)"
            )
        }
    }
}
