public import Foundation

/// A file mapped into memory, read only.
///
/// Reading costs no system call, and only the pages that are in use take memory.
/// A mapped file that becomes shorter ends the process with `SIGBUS` when the lost part is read, and nothing can
/// prevent that: map only files that nobody else writes to, such as those in a directory of your own.
/// For any other file take ``FileSource``.
///
/// The pointer is what the compiler cannot check as `Sendable`: the memory behind it is never written, and is unmapped
/// only with the last reference.
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
            // The system maps no empty files.
            bytes = UnsafeRawBufferPointer(start: nil, count: 0)
            return
        }
        // The mapping outlives the descriptor.
        guard let start = mmap(nil, length, PROT_READ, MAP_PRIVATE, file.descriptor, 0), start != MAP_FAILED else {
            throw FileError("map", file.path)
        }
        bytes = UnsafeRawBufferPointer(start: start, count: length)
    }

    deinit {
        if let start = bytes.baseAddress { munmap(UnsafeMutableRawPointer(mutating: start), bytes.count) }
    }

    /// How many bytes the file had when it was mapped.
    public var length: Int { bytes.count }

    /// Copies bytes; never throws.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard offset >= 0, offset < bytes.count else { return 0 }
        let count = min(buffer.count, bytes.count - offset)
        buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
        return count
    }

    /// Lends all the bytes, without a copy, for the length of the call.
    public func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        try body(bytes)
    }
}
