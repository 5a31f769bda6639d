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

/// Several sources that are read as one, one after another.
public struct ConcatenatedSource: ByteSource {
    private let parts: [any ByteSource]
    /// The end of each part, counted from the beginning of the first part.
    private let ends: [Int]

    /// The total number of bytes of all parts.
    public var length: Int { ends.last ?? 0 }

    /// Makes a source of these parts in this order; nil when their total length exceeds `Int.max`.
    public init?(_ parts: [any ByteSource]) {
        var ends: [Int] = []
        ends.reserveCapacity(parts.count)
        var end = 0
        for part in parts {
            let (next, overflow) = end.addingReportingOverflow(part.length)
            guard !overflow else { return nil }
            end = next
            ends.append(end)
        }
        self.parts = parts
        self.ends = ends
    }

    /// Reads across the boundaries of the parts; stops early at a part that has become shorter.
    ///
    /// - Complexity: O(log *n*) to find the first of *n* parts.
    /// - Throws: The error of reading a part.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard offset >= 0, offset < length else { return 0 }
        var index = firstPart(endingAfter: offset)
        var start = offset - (index == 0 ? 0 : ends[index - 1])
        var filled = 0
        while filled < buffer.count, index < parts.count {
            let part = parts[index]
            let wanted = min(buffer.count - filled, part.length - start)
            if wanted > 0 {
                let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[filled..<filled + wanted])
                let got = try part.read(at: start, into: piece)
                filled += got
                if got < wanted { break }
            }
            index += 1
            start = 0
        }
        return filled
    }

    /// Finds the part by binary search; an empty part is never the first that ends after an offset.
    private func firstPart(endingAfter offset: Int) -> Int {
        var (low, high) = (0, ends.count)
        while low < high {
            let middle = (low + high) / 2
            if ends[middle] <= offset { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

/// A range of another source.
package struct SlicedSource: ByteSource {
    private let source: any ByteSource
    private let range: Range<Int>

    /// Makes a source of the bytes of a range; reading ends where the other source does.
    package init(_ source: any ByteSource, _ range: Range<Int>) {
        self.source = source
        self.range = range
    }

    package var length: Int { range.count }

    package func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws -> Int {
        guard offset >= 0, offset < length else { return 0 }
        let room = buffer[..<min(buffer.count, length - offset)]
        return try source.read(at: range.lowerBound + offset, into: UnsafeMutableRawBufferPointer(rebasing: room))
    }
}

/// A file mapped into memory, read only.
///
/// Reading needs no system call, and only the pages that are in use take memory. If a mapped file becomes shorter,
/// reading the lost part ends the process with `SIGBUS`, and this cannot be prevented: map only files that no other
/// program writes to, such as those in a directory of your own. For any other file use ``FileSource``.
///
/// The compiler cannot check the pointer as `Sendable`: the memory behind it is never written, and is unmapped only
/// when the last reference is released.
public final class MappedSource: ByteSource, @unchecked Sendable {
    private let bytes: UnsafeRawBufferPointer

    /// Maps a regular file.
    ///
    /// - Throws: ``FileError`` when it cannot be opened or mapped or is not a regular file.
    public convenience init(_ url: URL) throws {
        try self.init(LocalFileSystem().openFile(url.path(percentEncoded: false)))
    }

    package init(_ file: OpenFile) throws {
        var status = stat()
        guard fstat(file.descriptor, &status) == 0 else { throw FileError("stat", file.path) }
        guard status.st_mode & S_IFMT == S_IFREG else { throw FileError("map", file.path, code: EISDIR) }
        let length = Int(status.st_size)
        guard length > 0 else {
            // The system cannot map empty files.
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        // The mapping remains valid after the descriptor is closed.
        guard let start = mmap(nil, length, PROT_READ, MAP_PRIVATE, file.descriptor, 0), start != MAP_FAILED else {
            throw FileError("map", file.path)
        }
        bytes = UnsafeRawBufferPointer(start: start, count: length)
    }

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }

    /// The number of bytes in the file when it was mapped.
    public var length: Int { bytes.count }

    /// Copies bytes; never throws.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard offset >= 0, offset < bytes.count else { return 0 }
        let count = min(buffer.count, bytes.count - offset)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
        return count
    }

    /// Passes all bytes to a closure without copying them; they are valid only during the call.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(bytes)
    }
}
