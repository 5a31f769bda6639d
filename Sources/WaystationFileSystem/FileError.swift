import WaystationFields

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file operation that failed.
public struct FileError: Error, CustomStringConvertible {
    /// The operation that failed, such as `open`.
    public let operation: String
    /// The path of the operation.
    public let path: String
    /// The system's `errno`.
    public let code: Int32

    /// The reason and what to do, if the system's text for ``code`` does not say it.
    private let reason: String?

    package init(_ operation: String, _ path: String, code: Int32 = errno, because reason: String? = nil) {
        self.operation = operation
        self.path = path
        self.code = code
        self.reason = reason
    }

    /// Whether space ran out: the disk, the quota or the file size limit is exhausted.
    package var isFull: Bool { code == ENOSPC || code == EDQUOT || code == EFBIG }

    /// Whether the process lacks descriptors, memory or permission: the error then says nothing about the state of the
    /// file.
    package var isCausedByProcess: Bool { [EMFILE, ENFILE, ENOMEM, ENOBUFS, EACCES, EPERM, EAGAIN].contains(code) }

    /// The operation, the path and the reason.
    public var description: String {
        "\(operation) \(path.shown(upTo: 4_096)): \(reason ?? String(cString: strerror(code)))"
    }
}
