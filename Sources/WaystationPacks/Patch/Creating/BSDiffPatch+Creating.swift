public import Foundation
public import WaystationStorage

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

/// Writes the three blocks of a patch, and compresses them immediately.
final class PatchWriter {
    private let old: UnsafeRawBufferPointer
    private let new: UnsafeRawBufferPointer
    private let control: BzipEncoder
    private let diff: BzipEncoder
    private let extra: BzipEncoder
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 16)
    /// The last difference; it is written when the start of the next one is known.
    private var pending: Difference?

    /// Makes a writer; both buffers must stay valid as long as this object.
    init(old: UnsafeRawBufferPointer, new: UnsafeRawBufferPointer) throws(PatchError) {
        self.old = old
        self.new = new
        control = try BzipEncoder()
        diff = try BzipEncoder()
        extra = try BzipEncoder()
    }

    deinit { buffer.deallocate() }

    func append(_ difference: Difference) throws(PatchError) {
        try writePending(before: difference.oldStart)
        pending = difference
    }

    /// Returns the complete patch, starting with the header.
    func finish() throws(PatchError) -> Data {
        try writePending(before: nil)
        try control.finish()
        try diff.finish()
        try extra.finish()
        return PatchHeader.encode(
            controlLength: control.compressed.count,
            diffLength: diff.compressed.count,
            newSize: new.count
        ) + control.compressed + diff.compressed + extra.compressed
    }

    private func writePending(before nextStart: Int?) throws(PatchError) {
        guard let difference = pending else { return }
        let oldEnd = difference.oldStart + difference.similar
        let newEnd = difference.newStart + difference.similar
        let instruction = PatchInstruction(
            added: difference.similar,
            extra: difference.unlike,
            seek: (nextStart ?? oldEnd) - oldEnd
        )
        instruction.encode(into: buffer)
        try control.append(UnsafeRawBufferPointer(rebasing: buffer[..<PatchInstruction.byteCount]))
        try appendDifferences(difference)
        try extra.append(UnsafeRawBufferPointer(rebasing: new[newEnd..<newEnd + difference.unlike]))
    }

    private func appendDifferences(_ difference: Difference) throws(PatchError) {
        var done = 0
        while done < difference.similar {
            let count = min(buffer.count, difference.similar - done)
            let newBytes = UnsafeRawBufferPointer(rebasing: new[(difference.newStart + done)...].prefix(count))
            let oldBytes = UnsafeRawBufferPointer(rebasing: old[(difference.oldStart + done)...].prefix(count))
            for index in 0..<count { buffer[index] = newBytes[index] &- oldBytes[index] }
            try diff.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            done += count
        }
    }
}
