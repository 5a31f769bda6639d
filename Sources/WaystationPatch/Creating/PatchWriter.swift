import Foundation

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
