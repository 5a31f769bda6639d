public import Foundation
import WaystationFileSystem
import WaystationPatch

extension PackBuilder {
    /// Makes a content patch, which turns an installed base into another pack.
    ///
    /// The same packs always give the same bytes. The files that differ are held in memory; the old ones take about
    /// five times their size.
    ///
    /// - Parameters:
    ///   - base: The pack that is installed.
    ///   - result: The new pack, to which the patch leads.
    /// - Returns: The patch, in the format of `Docs/FileFormats.md`.
    /// - Throws: ``PackError`` when a pack cannot be read, or when the files that differ are 2 GiB or more.
    public static func contentPatch(from base: PackContents, to result: PackContents) throws(PackError) -> Data {
        let difference = ContentDifference(from: base.manifest, to: result.manifest)
        do {
            let manifest = try BSDiffPatch.create(from: DataSource(base.json), to: DataSource(result.json))
            let content = try BSDiffPatch.create(
                from: stream(of: difference.old, in: base),
                to: stream(of: difference.new, in: result)
            )
            var patch = ContentPatch.magic
            patch.append(Data(hexadecimal: base.manifestDigest.hex))
            patch.append(Data(hexadecimal: result.manifestDigest.hex))
            withUnsafeBytes(of: UInt64(manifest.count).littleEndian) { patch.append(contentsOf: $0) }
            patch.append(manifest)
            patch.append(content)
            return patch
        } catch let error as PackError {
            throw error
        } catch {
            throw PackError(
                .fileSystem,
                "cannot make a content patch from \(base.manifest.module) \(base.manifest.version) to "
                    + "\(result.manifest.module) \(result.manifest.version)",
                cause: error
            )
        }
    }

    private static func stream(of files: [PackedFile], in pack: PackContents) throws -> ConcatenatedSource {
        guard let stream = try pack.stream(of: files) else {
            throw PackError(.tooLarge, "the files of \(pack.manifest.module) are too large for a patch")
        }
        return stream
    }
}
