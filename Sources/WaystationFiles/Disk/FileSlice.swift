public import Foundation
import Glibc

/// A run of bytes of an open file.
///
/// Owns an open descriptor, which is closed when the last reference goes. A file that is replaced or removed meanwhile
/// stays readable as it was. May be read from several threads at once.
public final class FileSlice: Sendable {
    /// Where the slice begins in the file, in bytes.
    public let offset: Int
    /// How many bytes the slice has.
    public let length: Int
    /// How many bytes to read at a time, as a suggestion.
    public let chunkSize: Int

    private let file: OpenFile

    init(of file: OpenFile, offset: Int, length: Int, chunkSize: Int) {
        self.file = file
        self.offset = offset
        self.length = length
        self.chunkSize = chunkSize
    }

    /// Reads bytes; blocks for as long as the disk needs.
    ///
    /// - Parameters:
    ///   - position: Where to begin, counted from the start of the slice.
    ///   - count: How many bytes to read at most.
    /// - Returns: Exactly `count` bytes, or what is left until the end of the slice; nothing beyond the end.
    /// - Throws: ``OfflineDirectoryError/Code/changedWhileReading`` when the file shrank or was rewritten in place since
    ///   it was opened, so that bytes of two versions never mix and a cut body never passes for a whole one;
    ///   ``OfflineDirectoryError/Code/unreadable`` when the system cannot read it.
    public func read(at position: Int, count: Int) throws(OfflineDirectoryError) -> Data {
        guard position >= 0, position < length, count > 0 else { return Data() }
        let data = try file.read(at: offset + position, count: min(count, length - position))
        guard try file.hasSameContentStamp() else { throw .changed(file.path) }
        return data
    }
}
