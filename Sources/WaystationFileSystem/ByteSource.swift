public import Foundation

/// Bytes of a known length that can be read at any place: a file, a mapped file, memory.
///
/// Safe to use from any thread. The bytes must not change while they are read.
public protocol ByteSource: Sendable {
    /// How many bytes there are.
    var length: Int { get }

    /// Fills a buffer from an offset on.
    ///
    /// - Returns: How many bytes were read: the buffer's count, fewer only where the source ends.
    /// - Throws: What reading the medium throws.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

extension ByteSource {
    /// The bytes of a range; fewer where the source ends.
    public func read(at offset: Int, count: Int) throws -> Data {
        var data = Data(count: max(0, min(count, length - offset)))
        let read = try data.withUnsafeMutableBytes { try self.read(at: offset, into: $0) }
        return read == data.count ? data : data.prefix(read)
    }
}

/// Bytes in memory.
public struct DataSource: ByteSource {
    private let data: Data

    /// A source of these bytes.
    public init(_ data: Data) { self.data = data }

    /// How many bytes there are.
    public var length: Int { data.count }

    /// Copies bytes; never throws.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard offset >= 0, offset < data.count else { return 0 }
        let count = min(buffer.count, data.count - offset)
        data.withUnsafeBytes { bytes in
            buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
        }
        return count
    }
}

/// An open file, read by `pread`.
public final class FileSource: ByteSource {
    /// How many bytes the file had when it was opened.
    public let length: Int

    private let file: OpenFile

    /// Opens a regular file.
    ///
    /// - Throws: ``FileError`` when it cannot be opened or is not a regular file.
    public convenience init(_ url: URL) throws {
        try self.init(LocalFileSystem().openFile(url.path(percentEncoded: false)))
    }

    package init(_ file: OpenFile) throws {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw FileError("stat", file.path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError("read", file.path, code: EISDIR) }
        self.file = file
        length = Int(status.st_size)
    }

    /// Reads from the file; a file that became shorter ends early.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let got = pread(file.descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
            if got < 0 {
                if errno == EINTR { continue }
                throw FileError("read", file.path)
            }
            if got == 0 { break }
            filled += got
        }
        return filled
    }
}
