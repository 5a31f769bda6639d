public import Foundation
public import WaystationArchive
import WaystationFileSystem
public import WaystationPacks
import WaystationPatch

/// Makes patches between packs.
public enum PackDelta {
    /// Makes a patch that turns one pack into another.
    ///
    /// The same packs always give the same bytes. The input is held in memory: for a content patch the files that
    /// differ, for a zip patch both zips. The old bytes take five times their size, at worst nine times.
    ///
    /// - Parameters:
    ///   - kind: The kind of bytes that the patch is applied to: the contents of installed files, or the zip.
    ///   - old: The old pack, which clients have.
    ///   - new: The new pack, to which the patch leads.
    ///   - limits: The limits beyond which a zip is refused.
    /// - Returns: The patch, in the format of `Docs/FileFormats.md`.
    /// - Throws: ``WaystationPacks/PackError`` when a pack cannot be read, or when the two packs belong to different
    ///   modules; with `tooLarge` when they are too large for a patch.
    public static func make(
        _ kind: PatchOffer.Kind,
        from old: URL,
        to new: URL,
        limits: ZipLimits = ZipLimits()
    ) throws(PackError) -> Data {
        switch kind {
        case .content:
            let (base, result) = (try PackContents(old, limits: limits), try PackContents(new, limits: limits))
            guard base.manifest.module == result.manifest.module else {
                throw PackError(
                    .invalidArgument,
                    "\(old.lastPathComponent) is a pack of \(base.manifest.module), but "
                        + "\(new.lastPathComponent) is one of \(result.manifest.module): "
                        + "give two versions of one module"
                )
            }
            return try PackBuilder.contentPatch(from: base, to: result)
        case .zip:
            do {
                return try BSDiffPatch.create(from: FileSource(old), to: FileSource(new))
            } catch let error as PatchError where error.code == .tooLarge || error.code == .outOfMemory {
                throw PackError(.tooLarge, "the zips are too large for a patch", cause: error)
            } catch {
                throw PackError(
                    .fileSystem,
                    "cannot make a patch from \(old.lastPathComponent) to \(new.lastPathComponent)",
                    cause: error
                )
            }
        }
    }

    /// Makes a patch as ``make(_:from:to:limits:)`` does, and writes it to a new file.
    ///
    /// - Throws: ``WaystationPacks/PackError`` as `make` does; `invalidArgument` when the file exists already or
    ///   its URL is not a file URL.
    public static func write(
        _ kind: PatchOffer.Kind,
        from old: URL,
        to new: URL,
        into file: URL,
        limits: ZipLimits = ZipLimits()
    ) throws(PackError) {
        // Checked before the patch is made, which may take minutes.
        if let problem = file.fileURLProblem { throw PackError(.invalidArgument, problem) }
        try NewFile.write(try make(kind, from: old, to: new, limits: limits), to: file)
    }
}
