import Foundation
import WaystationFileSystem
import WaystationPacks

/// Standard output.
enum StandardOutput {
    /// Writes bytes.
    ///
    /// - Returns: False when the reader has closed the pipe: it wants no more bytes, which is not an error.
    /// - Throws: `PackError` when the bytes cannot be written, as on a full disk.
    @discardableResult
    static func write(_ data: Data) throws(PackError) -> Bool {
        var rest = data
        while !rest.isEmpty {
            let (count, code) = rest.withUnsafeBytes { bytes in
                (Foundation.write(STDOUT_FILENO, bytes.baseAddress, bytes.count), errno)
            }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if code == EPIPE {
                return false
            } else if code != EINTR {
                let cause = FileError("write", "standard output", code: code)
                throw PackError(
                    cause.isFull ? .noSpace : .fileSystem,
                    "standard output cannot be written",
                    cause: cause
                )
            }
        }
        return true
    }
}
