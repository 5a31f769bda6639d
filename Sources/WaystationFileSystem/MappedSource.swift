public import Foundation

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
