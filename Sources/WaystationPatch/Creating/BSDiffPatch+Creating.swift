public import Foundation
public import WaystationFileSystem

extension BSDiffPatch {
    /// Makes a patch that turns the old bytes into the new ones.
    ///
    /// `bspatch` applies it, as ``apply(to:expecting:write:)`` does. The same bytes always give the same patch.
    ///
    /// Reads both into memory; takes the old bytes five times, at worst nine, the new ones once, the patch twice, and
    /// 23 MiB for bzip2. Works on the calling thread for about half a second per MiB of what changed.
    /// - Throws: ``PatchError`` with `tooLarge` when the old bytes are 2 GiB or more, `unreadable` or `outOfMemory`.
    public static func create(from old: any ByteSource, to new: any ByteSource) throws(PatchError) -> Data {
        guard old.length <= SuffixArray.maximumLength else { throw SuffixArray.tooLarge(old.length) }
        let oldBytes = try wholeBytes(of: old, "old")
        defer { oldBytes.deallocate() }
        let newBytes = try wholeBytes(of: new, "new")
        defer { newBytes.deallocate() }
        return try create(from: UnsafeRawBufferPointer(oldBytes), to: UnsafeRawBufferPointer(newBytes))
    }

    /// Makes a patch from bytes that are in memory, or mapped, already.
    ///
    /// Spares the copies that ``create(from:to:)-(ByteSource,_)`` makes; the same in all else.
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
