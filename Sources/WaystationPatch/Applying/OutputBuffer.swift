/// Collects the new bytes, so that many small instructions lead to few large writes.
final class OutputBuffer {
    private static let capacity = 256 << 10

    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var filled = 0

    deinit { bytes.deallocate() }

    /// Returns free space of at least one byte and at most `count`, which must be positive; a full buffer is written
    /// first.
    func room(upTo count: Int, _ write: (UnsafeRawBufferPointer) throws -> Void) throws -> UnsafeMutableRawBufferPointer
    {
        if filled == bytes.count { try flush(write) }
        return UnsafeMutableRawBufferPointer(rebasing: bytes[filled...].prefix(count))
    }

    /// Keeps the first `count` bytes of the space that was returned last.
    func commit(_ count: Int) { filled += count }

    func flush(_ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard filled > 0 else { return }
        try write(UnsafeRawBufferPointer(rebasing: bytes[..<filled]))
        filled = 0
    }
}
