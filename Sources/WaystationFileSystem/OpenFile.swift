#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file descriptor that is closed when its last owner releases it.
package final class OpenFile: Sendable {
    package let descriptor: Int32
    package let path: String

    private let isLocked: Bool

    /// Takes ownership of an open descriptor, and of the lock that it may hold.
    package init(descriptor: Int32, path: String, isLocked: Bool = false) {
        self.descriptor = descriptor
        self.path = path
        self.isLocked = isLocked
    }

    deinit {
        // Closing alone is not enough: a child process that is being started also has the descriptor until it executes
        // its program, and would keep the lock for that time.
        if isLocked { flock(descriptor, LOCK_UN) }
        close(descriptor)
    }

    /// Fills a buffer with the bytes from an offset on.
    ///
    /// - Returns: The number of bytes read: the buffer's count, or fewer if the file ends before that.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let got = pread(descriptor, rest.baseAddress, rest.count, off_t(offset + filled))
            if got < 0 {
                if errno == EINTR { continue }
                throw FileError("read", path)
            }
            if got == 0 { break }
            filled += got
        }
        return filled
    }
}
