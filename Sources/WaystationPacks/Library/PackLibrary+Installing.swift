public import Foundation
import Synchronization
public import WaystationArchive
import WaystationHTTP
import WaystationStorage

extension PackLibrary {
    /// Installs the version that results from an installed one and a content patch.
    ///
    /// - Parameters:
    ///   - patch: The patch; it is only read.
    ///   - module: The module, with the patch's base among its versions.
    ///   - isActivated: Whether the version becomes the active one; true by default.
    /// - Returns: The installed version.
    /// - Throws: ``PackError``: `notInstalled` when the base is not installed, `damaged` when the patch or the base is
    ///   damaged, `cancelled` when the task is cancelled before the version is moved into place; nothing is changed
    ///   then, and nothing is left of the version.
    @discardableResult
    public func install(
        contentPatch patch: URL,
        for module: ModuleID,
        activating isActivated: Bool = true
    ) async throws(PackError) -> InstalledPack {
        try await BlockingWork.run { [self] () throws(PackError) in
            let staged = try await stage(contentPatch: patch.path(percentEncoded: false), for: module)
            return try await commit(staged, activating: isActivated, onTrial: false)
        }
    }

    /// Makes a new version from an installed one and a content patch.
    ///
    /// Files that both versions have are linked, and the patch makes the others. Every file is compared with its
    /// digest, so that damage in the base does not spread to the new version.
    ///
    /// - Parameters:
    ///   - patch: The path of the patch.
    ///   - module: The module.
    ///   - result: The digest that the new manifest must have; nil accepts the one that the patch names.
    /// - Returns: The complete version, synchronised to the disk.
    /// - Throws: ``PackError``: `notInstalled` when the base is not installed, `damaged` when the patch or the base is
    ///   damaged. The caller can fetch the whole pack instead.
    func stage(
        contentPatch patch: String,
        for module: ModuleID,
        expecting result: PackDigest? = nil
    ) async throws(PackError) -> StagedPack {
        try await blocking("patching \(module)") { [self] in
            let fileSystem = environment.fileSystem
            let patch = try ContentPatch(FileSource(fileSystem.openFile(patch)))
            if let result, result.hex != patch.result {
                throw PackError(
                    .damaged,
                    "the content patch does not lead to the pack that was announced: fetch the whole pack"
                )
            }
            guard
                let version = state.withLock({ $0.records[module] })?.copy(where: { $0.manifestSHA256 == patch.base })
            else {
                throw PackError(
                    .notInstalled,
                    "the base of the content patch (manifest \(patch.base.prefix(12))…) of \(module) is not installed: "
                        + "fetch the whole pack"
                )
            }
            let base = try openPack(module, version)
            guard
                let baseJSON = try fileSystem.readFile(
                    layout.manifest(of: module, version.folder),
                    limit: PackManifest.maximumSize
                )
            else { throw PackError(.damaged, "the manifest of \(module) \(version.version) is missing") }
            let (manifest, json) = try patch.manifest(from: baseJSON)
            guard manifest.module == module else {
                throw PackError(.damaged, "the content patch for \(module) leads to a pack of \(manifest.module)")
            }
            guard !manifest.files.isEmpty else {
                throw PackError(.damaged, "the content patch for \(module) leads to a pack without files")
            }
            let staging = try PackStaging(in: layout, fileSystem)
            let difference = ContentDifference(from: base.manifest, to: manifest)
            do {
                try await make(difference, by: patch, from: base.root.path, in: staging)
            } catch let error as PatchError {
                throw PackError(.damaged, "the content patch cannot be applied: fetch the whole pack", cause: error)
            }
            try staging.seal(json)
            return StagedPack(staging: staging, manifest: manifest, json: json)
        }
    }

    private func make(
        _ difference: ContentDifference,
        by patch: ContentPatch,
        from base: String,
        in staging: PackStaging
    ) async throws {
        let fileSystem = environment.fileSystem
        guard let newSize = difference.newSize,
            let old = FileRow.source(difference.old.map { ("\(base)/\($0.path)", $0.size) }, fileSystem)
        else { throw PackError(.tooLarge, "the pack is too large for a content patch: fetch the whole pack") }
        // All links first, on one thread: folders must not be created on several threads at once.
        for (file, there) in difference.kept { try staging.link("\(base)/\(there.path)", to: file.path) }
        try await BlockingWork.forEach(difference.kept.map(\.file)) { file in
            let source = try FileSource(fileSystem.openFile("\(staging.files)/\(file.path)"))
            guard source.length == file.size, try PackDigest(of: source).hex == file.sha256 else {
                throw PackError(
                    .damaged,
                    "\(file.path.quoted()) of the installed pack is damaged: fetch the whole pack"
                )
            }
        }
        var writer = StreamSplitter(difference.new, in: staging)
        try patch.apply(to: old, newSize: newSize) { try writer.write($0) }
        try writer.finish()
        for (file, first) in difference.repeated { try staging.link("\(staging.files)/\(first.path)", to: file.path) }
    }

    /// Makes the new zip from the installed one and a zip patch, and unpacks it.
    ///
    /// - Parameters:
    ///   - patch: The path of the patch: BSDIFF40 from the zip of the installed version to the new zip.
    ///   - module: The module.
    ///   - base: The installed version whose zip was kept.
    ///   - expected: The digest of the new zip. Nil when the server named none; then only the checks of the zip format
    ///     apply.
    ///   - description: The pack's properties if the zip has no manifest.
    ///   - url: The URL of the whole zip, for the record.
    ///   - limits: The limits beyond which the new zip is refused.
    ///   - progress: Called for each file.
    /// - Returns: The complete version, synchronised to the disk.
    /// - Throws: ``PackError``; the caller can fetch the whole pack instead.
    func stage(
        zipPatch patch: String,
        for module: ModuleID,
        from base: LocalPack,
        expecting expected: PackDigest?,
        as description: PackDescription?,
        url: URL?,
        limits: ZipLimits = ZipLimits(),
        _ progress: @escaping @Sendable (ExtractionProgress) -> Void
    ) async throws(PackError) -> StagedPack {
        let fileSystem = environment.fileSystem
        let (scratch, digests, directory) = try await blocking("patching \(module)") { [self] in
            let record = state.withLock { $0.records[module] }
            guard let known = record?.copy(where: { base.isCopied(by: $0) && $0.isArchiveKept == true }) else {
                throw PackError(
                    .notInstalled,
                    "the zip of \(module) \(base.version) was not kept: fetch the whole pack"
                )
            }
            let directory = try StagingDirectory(in: layout.staging, fileSystem: fileSystem)
            let scratch = directory.path + "/new.zip"
            let archive = try fileSystem.openFile(layout.archive(of: module, known.folder))
            guard let kept = known.archiveDigests, try kept.contains(PackDigest(of: FileSource(archive))) else {
                throw PackError(.damaged, "the zip of \(module) \(base.version) is damaged: fetch the whole pack")
            }
            // The file was just read completely and only the library changes it, so it is safe to map. BSDIFF40 reads
            // at random offsets.
            let old = try MappedSource(archive)
            let output = try fileSystem.createFile(scratch)
            var digesters = [Digester(.sha256), Digester(.md5)]
            do {
                // A zip that a patch makes may be as large as one that is fetched as a whole.
                let size = PatchLimits(newSize: limits.maximumTotalSize)
                try BSDiffPatch(FileSource(fileSystem.openFile(patch)), limits: size).apply(to: old) { bytes in
                    for index in digesters.indices { digesters[index].update(bytes) }
                    try fileSystem.write(Data(bytes), to: output)
                }
                // The zip stays with the version, as the base of the next patch.
                try fileSystem.synchronize(output)
            } catch let error as PatchError {
                throw PackError(.damaged, "the zip patch cannot be applied: fetch the whole pack", cause: error)
            }
            let digests = digesters.map(\.digest)
            if let expected, !digests.contains(expected) {
                throw PackError(
                    .damaged,
                    "the zip patch does not lead to the zip that was announced: fetch the whole pack"
                )
            }
            return (scratch, digests, directory)
        }
        defer { directory.discard() }
        let origin = ArchiveOrigin(digests: digests, url: url, isKept: true)
        return try await stage(zip: scratch, as: description, origin: origin, limits: limits, progress)
    }
}

/// Splits the new stream of a content patch into its files, and compares each with its digest.
private struct StreamSplitter {
    private let files: [PackedFile]
    private let staging: PackStaging
    private var index = 0
    private var current: (file: OpenFile, digester: Digester, rest: Int)?

    init(_ files: [PackedFile], in staging: PackStaging) {
        self.files = files
        self.staging = staging
    }

    mutating func write(_ bytes: UnsafeRawBufferPointer) throws {
        var rest = bytes[...]
        while !rest.isEmpty {
            guard var next = try opened() else {
                throw PackError(
                    .damaged,
                    "the content patch makes more bytes than the manifest lists: fetch the whole pack"
                )
            }
            let part = Data(rest.prefix(next.rest))
            next.digester.update(part)
            try staging.fileSystem.write(part, to: next.file)
            rest = rest.dropFirst(part.count)
            next.rest -= part.count
            current = next
            if next.rest == 0 { try close() }
        }
    }

    /// Closes the last file, and creates empty files at the end of the list.
    mutating func finish() throws {
        while let (_, _, rest) = try opened() {
            guard rest == 0 else {
                throw PackError(
                    .damaged,
                    "the content patch makes fewer bytes than the manifest lists: fetch the whole pack"
                )
            }
            try close()
        }
    }

    /// The file that takes the next bytes; nil after the last one.
    private mutating func opened() throws -> (file: OpenFile, digester: Digester, rest: Int)? {
        while current == nil, index < files.count {
            let entry = files[index]
            let file = try staging.fileSystem.createFile(staging.place(entry.path))
            current = (file, Digester(), entry.size)
            if entry.size == 0, index + 1 < files.count { try close() }
        }
        return current
    }

    private mutating func close() throws {
        guard let (file, digester, _) = current else { return }
        let entry = files[index]
        guard digester.digest.hex == entry.sha256 else {
            throw PackError(.damaged, "the content patch makes a damaged \(entry.path.quoted()): fetch the whole pack")
        }
        try staging.fileSystem.synchronize(file)
        current = nil
        index += 1
    }
}

extension PackLibrary {
    /// Installs a zip.
    ///
    /// A manifest in it (`waystation-pack.json`) must match its files; without one, `description` gives the pack's
    /// properties.
    /// Nothing is written before the whole zip has been checked, see `ZipArchive`.
    ///
    /// - Parameters:
    ///   - zip: The file; it is only read.
    ///   - description: The pack's properties if the zip has no manifest; a manifest takes precedence.
    ///   - isArchiveKept: Whether the library keeps a copy of the zip, as the base of patches from zip to zip; true by
    ///     default. False saves disk space if the source of updates offers no such patches.
    ///   - isActivated: Whether the version becomes the active one; true by default.
    ///   - limits: The limits beyond which the zip is refused.
    ///   - progress: Called for each file when it is unpacked, and for each further MiB of large ones; on any thread.
    /// - Returns: The installed version.
    /// - Throws: ``PackError``; nothing is changed then, except with `notDurable`. With `cancelled`, the task was
    ///   cancelled before the version was moved into place, and nothing of it is left.
    @discardableResult
    public func install(
        zip: URL,
        as description: PackDescription? = nil,
        keepingArchive isArchiveKept: Bool = true,
        activating isActivated: Bool = true,
        limits: ZipLimits = ZipLimits(),
        progress: @escaping @Sendable (ExtractionProgress) -> Void = { _ in }
    ) async throws(PackError) -> InstalledPack {
        try await BlockingWork.run { [self] () throws(PackError) in
            let path = zip.path(percentEncoded: false)
            let staged = try await stage(
                zip: path,
                as: description,
                origin: nil,
                keepingCopy: isArchiveKept,
                limits: limits,
                progress
            )
            return try await commit(staged, activating: isActivated, onTrial: false)
        }
    }

    /// Unpacks a zip into a staged version.
    ///
    /// - Parameters:
    ///   - zip: The path of the zip.
    ///   - description: The pack's properties if the zip has no manifest.
    ///   - origin: The URL and digests of the zip, and whether the zip is kept with the version. Nil for a zip that the
    ///     library did not download or make itself.
    ///   - keepsCopy: Whether a copy of a zip without an origin is kept.
    ///   - limits: The limits beyond which the zip is refused.
    ///   - progress: Called for each file.
    /// - Returns: The complete version, synchronised to the disk.
    /// - Throws: ``PackError`` when the zip is not valid or the disk fails.
    func stage(
        zip: String,
        as description: PackDescription?,
        origin: ArchiveOrigin?,
        keepingCopy keepsCopy: Bool = false,
        limits: ZipLimits = ZipLimits(),
        _ progress: @escaping @Sendable (ExtractionProgress) -> Void
    ) async throws(PackError) -> StagedPack {
        let fileSystem = environment.fileSystem
        let (staging, archive) = try await blocking("reading \(zip)") { [self] in
            let source = try FileSource(fileSystem.openFile(zip))
            let archive: ZipArchive
            do {
                archive = try ZipArchive(source, limits: limits)
            } catch let error as ZipError {
                throw PackError.unpacking(zip, error)
            }
            guard archive.entries.contains(where: { !$0.isDirectory && $0.path != PackManifest.fileName }) else {
                throw PackError(.damaged, "\(zip) is empty, it has no files: build the pack again from its folder")
            }
            return (try PackStaging(in: layout, fileSystem), archive)
        }
        let digests = FileDigests()
        do {
            try await archive.extract(
                into: staging.files,
                using: fileSystem,
                synchronizes: true,
                observe: { digests.observer(of: $0) },
                progress: progress
            )
        } catch {
            throw PackError.unpacking(zip, error)
        }
        return try await blocking("unpacking \(zip)") { [self] in
            let manifest = "\(staging.files)/\(PackManifest.fileName)"
            if let size = try fileSystem.status(of: manifest)?.size, size > PackManifest.maximumSize {
                throw PackError(
                    .invalidManifest,
                    "the manifest in \(zip) has \(size) bytes; the limit is \(PackManifest.maximumSize)"
                )
            }
            let json = try fileSystem.readFile(manifest, limit: PackManifest.maximumSize)
            // The manifest is stored beside the folder of the files, so that it is not served as one of them.
            if json != nil { try fileSystem.removeFile(manifest) }
            let kept: ArchiveOrigin
            if let origin {
                if origin.isKept { try staging.keep(archive: zip) }
                kept = origin
            } else {
                let source = try FileSource(fileSystem.openFile(zip))
                // Older servers identify packs by their MD5.
                let digests =
                    try keepsCopy
                    ? staging.keep(copyOf: source) : [PackDigest(of: source), PackDigest(of: source, .md5)]
                kept = ArchiveOrigin(digests: digests, isKept: keepsCopy)
            }
            var staged = try stage(staging, json: json, found: digests.files, description)
            staged.archive = kept
            return staged
        }
    }
}

extension PackError {
    fileprivate static func unpacking(_ zip: String, _ error: any Error) -> PackError {
        switch error {
        case let error as PackError: error
        case is CancellationError: PackError(.cancelled, "unpacking \(zip) was cancelled", cause: error)
        case let error as FileError where error.isFull:
            PackError(
                .noSpace,
                "the disk is full while unpacking \(zip): free some space; nothing was changed",
                cause: error
            )
        case is ZipError:
            PackError(
                .damaged,
                "\(zip) is not a zip that can be unpacked: rebuild the pack, or fetch it again",
                cause: error
            )
        default: PackError(.fileSystem, "\(zip) cannot be unpacked; nothing was changed", cause: error)
        }
    }
}

/// The digests of files, computed while the files are unpacked.
private final class FileDigests: Sendable {
    private let found = Mutex<[PackedFile]>([])

    var files: [PackedFile] { found.withLock { $0 } }

    func observer(of entry: ZipEntry) -> (any EntryObserver)? {
        entry.path == PackManifest.fileName ? nil : Observer(entry: entry, digests: self)
    }

    private struct Observer: EntryObserver {
        let entry: ZipEntry
        let digests: FileDigests
        var digester = Digester()

        mutating func receive(_ bytes: UnsafeRawBufferPointer) { digester.update(bytes) }

        mutating func finish() {
            let file = PackedFile(path: entry.path, size: entry.size, sha256: digester.digest.hex)
            digests.found.withLock { $0.append(file) }
        }
    }
}
