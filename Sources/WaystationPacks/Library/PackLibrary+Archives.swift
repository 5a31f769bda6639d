public import Foundation
import Synchronization
public import WaystationArchive
import WaystationFileSystem

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
            guard archive.entries.contains(where: { !$0.isDirectory }) else {
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
