import Glibc

/// A file operation that failed.
public struct FileError: Error, CustomStringConvertible {
    /// What was tried, such as `open`.
    public let operation: String
    /// The path it was tried on.
    public let path: String
    /// The system's `errno`.
    public let code: Int32

    package init(_ operation: String, _ path: String, code: Int32 = errno) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// Whether there is no room: the disk, the quota or the file size limit is exhausted.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// The operation, the path and what the system says.
    public var description: String {
        "\(operation) \(path): \(String(cString: strerror(code)))"
    }
}
