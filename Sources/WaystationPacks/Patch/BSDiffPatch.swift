import Foundation
public import WaystationStorage

/// A binary patch in the format BSDIFF40 of Colin Percival's `bsdiff` and `bspatch`.
///
/// ```swift
/// let patch = try BSDiffPatch(FileSource(patchFile))
/// try patch.apply(to: FileSource(oldFile), expecting: .init(new: .sha256(digest))) { bytes in
///     try output.write(contentsOf: Data(bytes))
/// }
/// ```
/// The patch is read while it is applied, and is never in memory as a whole. One value can be applied any number of
/// times, from any thread.
public struct BSDiffPatch: Sendable {
    /// The number of bytes that the patch produces: 0 or more, and within the limits.
    public var newSize: Int { header.newSize }

    let source: any ByteSource
    let header: PatchHeader

    /// Reads the header of a patch and checks every length in it.
    ///
    /// The blocks after the header are read only when the patch is applied.
    /// - Throws: ``PatchError`` with `unreadable`, `notAPatch`, `badHeader` or `tooLarge`.
    public init(_ source: any ByteSource, limits: PatchLimits = PatchLimits()) throws(PatchError) {
        let bytes: Data
        do {
            bytes = try source.read(at: 0, count: PatchHeader.byteCount)
        } catch {
            throw PatchError(.unreadable, "the header of the patch cannot be read", cause: error)
        }
        header = try PatchHeader(bytes, patchLength: source.length, limits: limits)
        self.source = source
    }
}
