public import Foundation

/// A range of bytes of an open file.
///
/// The slice owns an open descriptor, which is closed when the last reference is released. If the file is replaced or
/// removed meanwhile, its old content stays readable. May be read from several threads at once.
public final class FileSlice: Sendable {
    /// The offset of the slice in the file, in bytes.
    public let offset: Int
    /// The number of bytes in the slice.
    public let length: Int
    /// The suggested number of bytes to read at a time.
    public let chunkSize: Int

    private let file: StampedFile

    init(of file: StampedFile, offset: Int, length: Int, chunkSize: Int) {
        self.file = file
        self.offset = offset
        self.length = length
        self.chunkSize = chunkSize
    }

    /// Reads bytes of the part; the call blocks for as long as the disk needs.
    ///
    /// - Parameters:
    ///   - position: The first byte to read, counted from the start of the slice.
    ///   - count: The maximum number of bytes to read.
    /// - Returns: Exactly `count` bytes, or fewer at the end of the slice; empty beyond the end.
    /// - Throws: ``OfflineDirectoryError/Code/changedWhileReading`` when the file shrank or was rewritten in place
    ///   since it was opened, so that the bytes of two versions are never mixed and a truncated body is never taken for
    ///   a complete one; ``OfflineDirectoryError/Code/unreadable`` when the system cannot read it.
    public func read(at position: Int, count: Int) throws(OfflineDirectoryError) -> Data {
        guard position >= 0, position < length, count > 0 else { return Data() }
        let data = try file.read(at: offset + position, count: min(count, length - position))
        guard try file.hasSameContentStamp() else { throw .changed(file.path) }
        return data
    }
}
