public import Foundation
public import WaystationFileSystem

extension BSDiffPatch {
    /// Makes a patch that turns the old bytes into the new ones.
    ///
    /// `bspatch` can apply the patch, and so can ``apply(to:expecting:write:)``. The same bytes always give the same
    /// patch.
    ///
    /// Reads both into memory. The old bytes take five times their size, at worst nine times, the new ones once, the
    /// patch twice, and bzip2 23 MiB. Works on the calling thread, for about half a second for each MiB that changed.
    /// - Throws: ``PatchError`` with `tooLarge` when the old bytes are 2 GiB or more, `unreadable` or `outOfMemory`.
    public static func create(from old: any ByteSource, to new: any ByteSource) throws(PatchError) -> Data {
        guard old.length <= SuffixArray.maximumLength else { throw SuffixArray.tooLarge(old.length) }
        let oldBytes = try wholeBytes(of: old, "old")
        defer { oldBytes.deallocate() }
        let newBytes = try wholeBytes(of: new, "new")
        defer { newBytes.deallocate() }
        return try create(from: UnsafeRawBufferPointer(oldBytes), to: UnsafeRawBufferPointer(newBytes))
    }

    /// Makes a patch from bytes that are already in memory or mapped.
    ///
    /// Works like ``create(from:to:)-(ByteSource,_)``, but makes no copies of the bytes.
    /// - Throws: ``PatchError`` with `tooLarge` when the old bytes are 2 GiB or more, or `outOfMemory`.
    public static func create(
        from old: UnsafeRawBufferPointer,
        to new: UnsafeRawBufferPointer
    ) throws(PatchError) -> Data {
        var scanner = try DifferenceScanner(old: old, new: new)
        let writer = try PatchWriter(old: old, new: new)
        while let difference = scanner.next() { try writer.append(difference) }
        return try writer.finish()
    }

    private static func wholeBytes(
        of source: any ByteSource,
        _ name: String
    ) throws(PatchError) -> UnsafeMutableRawBufferPointer {
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: source.length, alignment: 16)
        do throws(PatchError) {
            try source.fill(bytes, at: 0, of: name)
        } catch {
            bytes.deallocate()
            throw error
        }
        return bytes
    }
}
