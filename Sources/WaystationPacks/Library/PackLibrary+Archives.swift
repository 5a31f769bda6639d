public import Foundation
import Synchronization
public import WaystationArchive
import WaystationFileSystem

extension PackLibrary {
    /// Installs a zip.
    ///
    /// A manifest in it (`waystation-pack.json`) must fit its files; without one, `description` says what the pack is.
    /// Nothing is written before the whole zip has been checked, see `ZipArchive`.
    ///
    /// - Parameters:
    ///   - zip: The file; it is read and left where it is.
    ///   - description: What the pack is, where the zip has no manifest; a manifest wins.
    ///   - isArchiveKept: Whether the library keeps a copy of the zip, as the base of patches from zip to zip; true by
    ///     default. False saves its room, where the source of updates offers no such patches.
    ///   - isActivated: Whether the version answers from now on; true by default.
    ///   - progress: Told of each file when it is unpacked, and of each further MiB of large ones; on any thread.
    /// - Returns: The version.
    /// - Throws: ``PackError``; nothing is changed then, except with `notDurable`. It is `cancelled`, and nothing of the
    ///   version is left, when the task is cancelled before the version takes its place.
    @discardableResult
    public func install(
        zip: URL,
        as description: PackDescription? = nil,
        keepingArchive isArchiveKept: Bool = true,
        activating isActivated: Bool = true,
        progress: @escaping @Sendable (ExtractionProgress) -> Void = { _ in }
    ) async throws(PackError) -> InstalledPack {
        try await BlockingWork.run { [self] () throws(PackError) in
            let path = zip.path(percentEncoded: false)
            let staged = try await stage(
                zip: path,
                as: description,
                origin: nil,
                keepingCopy: isArchiveKept,
                progress
            )
            return try await commit(staged, activating: isActivated, onTrial: false)
        }
    }

    /// Unpacks a zip into a staged version.
    ///
    /// - Parameters:
    ///   - zip: The path of the zip.
    ///   - description: What the pack is, where the zip has no manifest.
    ///   - origin: Where the zip came from; it is kept with the version when that says so. Nil for a zip that is not the
    ///     library's own.
    ///   - keepsCopy: Whether a copy of a zip without an origin is kept.
    ///   - limits: What of the zip is refused.
    ///   - progress: Told of each file.
    /// - Returns: The version, complete and on the medium.
    /// - Throws: ``PackError`` when the zip is not what it should be or the disk fails.
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
            do {
                return (try PackStaging(in: layout, fileSystem), try ZipArchive(source, limits: limits))
            } catch let error as ZipError {
                throw PackError.unpacking(zip, error)
            }
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
                throw PackError(.invalidManifest, "the manifest in \(zip) has \(size) bytes: no manifest is that long")
            }
            let json = try fileSystem.readFile(manifest, limit: PackManifest.maximumSize)
            // It lies beside the files, so that it is not served as one of them.
            if json != nil { try fileSystem.removeFile(manifest) }
            let kept: ArchiveOrigin
            if let origin {
                if origin.isKept { try staging.keep(archive: zip) }
                kept = origin
            } else {
                let source = try FileSource(fileSystem.openFile(zip))
                // Older servers know packs by their MD5.
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
                "\(zip) is not a zip that may be unpacked: build the pack anew, or fetch it again",
                cause: error
            )
        default: PackError(.fileSystem, "\(zip) cannot be unpacked; nothing was changed", cause: error)
        }
    }
}

/// The digests of files, taken while they are unpacked.
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

        init(entry: ZipEntry, digests: FileDigests) {
            self.entry = entry
            self.digests = digests
        }

        mutating func receive(_ bytes: UnsafeRawBufferPointer) { digester.update(bytes) }

        mutating func finish() {
            let file = PackedFile(path: entry.path, size: entry.size, sha256: digester.digest.hex)
            digests.found.withLock { $0.append(file) }
        }
    }
}
