import WaystationFileSystem

/// The old bytes as a patch sees them: endless in both directions, with zeros outside the file.
final class OldBytes {
    private static let capacity = 256 << 10
    /// The minimum size of a read.
    ///
    /// The next instruction mostly continues nearby, and a separate read for every few bytes would cost more than
    /// decompressing them.
    private static let leastRead = 1 << 10

    private let source: any ByteSource
    private let length: Int
    private let window = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    /// The range of the old bytes that the window holds.
    private var held = 0..<0

    init(_ source: any ByteSource) {
        self.source = source
        length = source.length
    }

    deinit { window.deallocate() }

    /// Adds old bytes to the bytes of a buffer; `position` may be any number, even outside the old bytes.
    func add(from position: Int, to buffer: UnsafeMutableRawBufferPointer) throws(PatchError) {
        // The sum can only overflow far beyond the old bytes, where clamping changes nothing.
        let (end, overflow) = position.addingReportingOverflow(buffer.count)
        let wanted = (position..<(overflow ? .max : end)).clamped(to: 0..<length)
        var next = wanted.lowerBound
        while next < wanted.upperBound {
            try hold(next, count: wanted.upperBound - next)
            let stop = min(wanted.upperBound, held.upperBound)
            let bytes = UnsafeRawBufferPointer(rebasing: window[(next - held.lowerBound)..<(stop - held.lowerBound)])
            let sum = UnsafeMutableRawBufferPointer(rebasing: buffer[(next - position)..<(stop - position)])
            Self.add(bytes, to: sum)
            next = stop
        }
    }

    private func hold(_ position: Int, count: Int) throws(PatchError) {
        if held.contains(position) { return }
        held = 0..<0
        let size = min(max(count, Self.leastRead), window.count, length - position)
        try source.fill(UnsafeMutableRawBufferPointer(rebasing: window[..<size]), at: position, of: "old")
        held = position..<position + size
    }

    /// Adds bytes one by one, modulo 256; the compiler turns this plain loop over pointers into vector instructions.
    private static func add(_ bytes: UnsafeRawBufferPointer, to sum: UnsafeMutableRawBufferPointer) {
        guard let from = bytes.bindMemory(to: UInt8.self).baseAddress,
            let to = sum.bindMemory(to: UInt8.self).baseAddress
        else { return }
        for index in 0..<bytes.count { to[index] &+= from[index] }
    }
}
