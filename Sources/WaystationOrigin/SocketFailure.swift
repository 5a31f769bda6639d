#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An error that says why a loopback socket could not be opened or used.
public struct SocketFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The operation that failed, such as `listen on 127.0.0.1:8080`.
    public let operation: String
    /// The system's error code, `errno`.
    public let code: Int32

    init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The operation, and the system's reason.
    public var description: String { "could not \(operation): \(String(cString: strerror(code)))" }
}
