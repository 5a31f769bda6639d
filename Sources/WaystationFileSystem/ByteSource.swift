public import Foundation

/// Bytes of a known length that can be read at any offset: a file, a mapped file, or memory.
///
/// Safe to use from any thread. The bytes must not change while they are read.
public protocol ByteSource: Sendable {
    /// The number of bytes.
    var length: Int { get }

    /// Fills a buffer with the bytes from an offset on.
    ///
    /// - Returns: The number of bytes read: the buffer's count, or fewer if the source ends before that.
    /// - Throws: The error of reading the medium.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int
}

extension ByteSource {
    /// The bytes of a range; fewer if the source ends before the end of the range.
    public func read(at offset: Int, count: Int) throws -> Data {
        var data = Data(count: max(0, min(count, length - offset)))
        let read = try data.withUnsafeMutableBytes { try self.read(at: offset, into: $0) }
        return read == data.count ? data : data.prefix(read)
    }
}

/// Bytes in memory.
public struct DataSource: ByteSource {
    private let data: Data

    /// Makes a source of these bytes.
    public init(_ data: Data) { self.data = data }

    /// The number of bytes.
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
    /// The number of bytes in the file when it was opened.
    public let length: Int

    private let file: OpenFile

    /// Opens a regular file.
    ///
    /// - Throws: ``FileError`` when the file cannot be opened or is not a regular file.
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

    /// Reads from the file; returns fewer bytes if the file has become shorter.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        try file.read(at: offset, into: buffer)
    }
}
