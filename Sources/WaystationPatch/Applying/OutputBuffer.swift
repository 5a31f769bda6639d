/// Gathers the new bytes, so that many small instructions are few large writes.
final class OutputBuffer {
    private static let capacity = 256 << 10

    private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: capacity, alignment: 16)
    private var filled = 0

    deinit { bytes.deallocate() }

    /// Free bytes, at least one and at most `count`, which must be positive; full ones are written first.
    func room(upTo count: Int, _ write: (UnsafeRawBufferPointer) throws -> Void) throws -> UnsafeMutableRawBufferPointer
    {
        if filled == bytes.count { try flush(write) }
        return UnsafeMutableRawBufferPointer(rebasing: bytes[filled...].prefix(count))
    }

    /// Keeps the first bytes of the room that was given last.
    func commit(_ count: Int) { filled += count }

    func flush(_ write: (UnsafeRawBufferPointer) throws -> Void) throws {
        guard filled > 0 else { return }
        try write(UnsafeRawBufferPointer(rebasing: bytes[..<filled]))
        filled = 0
    }
}
