public import Foundation
import WaystationFileSystem
public import WaystationPacks
import WaystationPatch

/// Makes patches between packs.
public enum PackDelta {
    /// Makes a patch that turns one pack into another.
    ///
    /// The same packs always give the same bytes. Takes what is compared into memory: for a content patch the files that
    /// differ, for a zip patch both zips; the old bytes five times, at worst nine.
    ///
    /// - Parameters:
    ///   - kind: What the patch is applied to: the contents of installed files, or the zip.
    ///   - old: The pack that clients have.
    ///   - new: The pack that they shall have.
    /// - Returns: The patch, in the format of `Docs/FileFormats.md`.
    /// - Throws: ``WaystationPacks/PackError`` when a pack cannot be read, when the two are of different modules, or
    ///   with `tooLarge`.
    public static func make(_ kind: PatchOffer.Kind, from old: URL, to new: URL) throws(PackError) -> Data {
        switch kind {
        case .content:
            let (base, result) = (try PackContents(old), try PackContents(new))
            guard base.manifest.module == result.manifest.module else {
                throw PackError(
                    .invalidArgument,
                    "\(old.lastPathComponent) is a pack of \(base.manifest.module) and \(new.lastPathComponent) one of "
                        + "\(result.manifest.module): give two versions of one module"
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
                    "no patch can be made from \(old.lastPathComponent) to \(new.lastPathComponent)",
                    cause: error
                )
            }
        }
    }

    /// Makes a patch as ``make(_:from:to:)`` does, and writes it to a new file.
    ///
    /// - Throws: ``WaystationPacks/PackError`` as `make` does; `invalidArgument` when the file is there already.
    public static func write(_ kind: PatchOffer.Kind, from old: URL, to new: URL, into file: URL) throws(PackError) {
        try NewFile.write(try make(kind, from: old, to: new), to: file)
    }
}
