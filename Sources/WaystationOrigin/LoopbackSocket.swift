package import Foundation

@_exported public import protocol WaystationHTTP.CodedError

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A blocking TCP socket on `127.0.0.1`, closed with its last reference.
///
/// `shutdown` may be called from any thread, and wakes a thread that waits in `accept`, `receive` or `send`. The
/// descriptor is closed only when no reference to the socket is left, so no thread can use a number that the system has
/// given to another file.
final class LoopbackSocket: Sendable {
    let descriptor: CInt

    init(descriptor: CInt) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    /// Listens on a port, or on one that the system picks if it is 0.
    ///
    /// The socket has its port until it is closed, also after `shutdown`: no other server can get it meanwhile, and
    /// connections to it are refused.
    static func listening(on port: UInt16) throws(SocketFailure) -> LoopbackSocket {
        let operation = "listen on 127.0.0.1:\(port)"
        // The system takes a port that it has picked from a socket that is shut down, and leaves it one that was named.
        let picked = port == 0 ? try bound(to: 0, for: operation) : nil
        let listener = try bound(to: picked?.port() ?? port, for: operation)
        guard listen(listener.descriptor, 1024) == 0 else { throw SocketFailure(operation, code: errno) }
        return listener
    }

    private static func bound(to port: UInt16, for operation: String) throws(SocketFailure) -> LoopbackSocket {
        let bound = try unconnected(for: operation)
        bound.enable(SO_REUSEADDR, at: SOL_SOCKET)
        guard LoopbackAddress.with(port, { bind(bound.descriptor, $0, $1) }) == 0
        else { throw SocketFailure(operation, code: errno) }
        return bound
    }

    static func connected(to port: UInt16) throws(SocketFailure) -> LoopbackSocket {
        let operation = "connect to 127.0.0.1:\(port)"
        let connection = try unconnected(for: operation)
        guard LoopbackAddress.with(port, { connect(connection.descriptor, $0, $1) }) == 0
        else { throw SocketFailure(operation, code: errno) }
        connection.enable(TCP_NODELAY, at: CInt(IPPROTO_TCP))
        return connection
    }

    private static func unconnected(for operation: String) throws(SocketFailure) -> LoopbackSocket {
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw SocketFailure(operation, code: errno) }
        return LoopbackSocket(descriptor: descriptor)
    }

    func port() throws(SocketFailure) -> UInt16 {
        guard let port = LoopbackAddress.port({ getsockname(descriptor, $0, $1) }) else {
            throw SocketFailure("read the port of a socket", code: errno)
        }
        return port
    }

    /// The next connection, or nil once the listener is shut down.
    func accept() -> LoopbackSocket? {
        while true {
            let connection = Glibc.accept(descriptor, nil, nil)
            if connection >= 0 {
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                let socket = LoopbackSocket(descriptor: connection)
                socket.enable(TCP_NODELAY, at: CInt(IPPROTO_TCP))
                return socket
            }
            // A client that left before it was accepted does not end the listener.
            guard errno == EINTR || errno == ECONNABORTED else { return nil }
        }
    }

    /// Up to `limit` bytes, or nil at the end of the stream or after an error.
    func receive(upTo limit: Int) -> [UInt8]? {
        let bytes = [UInt8](unsafeUninitializedCapacity: limit) { buffer, count in
            var received: Int
            repeat {
                received = recv(descriptor, buffer.baseAddress, limit, 0)
            } while received < 0 && errno == EINTR
            count = max(received, 0)
        }
        return bytes.isEmpty ? nil : bytes
    }

    /// Sends all bytes.
    ///
    /// - Returns: Whether all bytes were sent; false when the peer is gone.
    func send(_ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var sent = 0
            while sent < bytes.count {
                let count = Glibc.send(
                    descriptor,
                    bytes.baseAddress?.advanced(by: sent),
                    bytes.count - sent,
                    CInt(MSG_NOSIGNAL)
                )
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                sent += count
            }
            return true
        }
    }

    /// Ends both directions; the descriptor stays valid.
    func shutdown() { _ = Glibc.shutdown(descriptor, CInt(SHUT_RDWR)) }

    /// Ends the sending direction only: the peer reads the end of the stream, and may still send.
    func endSending() { _ = Glibc.shutdown(descriptor, CInt(SHUT_WR)) }

    /// Resets the connection: the peer gets `ECONNRESET`, regardless of the bytes on their way to it.
    ///
    /// Connecting to an unspecified address resets at once; `SO_LINGER` would reset only when the descriptor is closed.
    func reset() {
        var nowhere = sockaddr(sa_family: sa_family_t(AF_UNSPEC), sa_data: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
        _ = connect(descriptor, &nowhere, socklen_t(MemoryLayout<sockaddr>.size))
    }

    private func enable(_ option: CInt, at level: CInt) {
        var on: CInt = 1
        setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<CInt>.size))
    }
}

/// A port on `127.0.0.1` as the system's calls take it.
package enum LoopbackAddress {
    /// Passes the address to a call such as `bind` or `connect`, and returns the result of the call.
    package static func with(_ port: UInt16, _ call: (UnsafePointer<sockaddr>, socklen_t) -> CInt) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
        }
    }

    /// The port of the address that a call such as `getsockname` or `getpeername` fills in; nil if it fails, or if the
    /// address is not one of the internet.
    package static func port(
        _ call: (UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
    ) -> UInt16? {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { call($0, &length) }
        }
        // The port is at the same place for IPv4 and IPv6.
        guard result == 0, [AF_INET, AF_INET6].contains(CInt(address.sin_family)) else { return nil }
        return UInt16(bigEndian: address.sin_port)
    }
}

/// An error that says why a loopback socket could not be opened or used.
public struct SocketFailure: CodedError, Hashable {
    /// The operation that failed, such as `listen on 127.0.0.1:8080`.
    public let operation: String
    /// The system's error code, `errno`.
    public let code: Int32

    init(_ operation: String, code: Int32) {
        self.operation = operation
        self.code = code
    }

    /// The operation, and the system's reason.
    public var message: String { "could not \(operation): \(String(cString: strerror(code)))" }

    /// The message, which says what ``code`` means.
    public var description: String { message }
}
