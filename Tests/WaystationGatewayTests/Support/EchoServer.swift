#if Gateway
import Foundation
import Glibc
import Synchronization
import WaystationOrigin

/// A server at 127.0.0.1 that sends all bytes back, and the end of them; or the same bytes in answer to each head.
final class EchoServer: Sendable {
    let port: Int
    private let listener: CInt
    private let box: Box

    /// The bytes that have arrived.
    private final class Box: Sendable {
        let bytes = Mutex(Data())
    }

    var received: Data { box.bytes.withLock { $0 } }

    /// Starts the server.
    ///
    /// - Parameter answer: The answer to each head; nil to send back what arrives.
    /// - Throws: An error when no socket can be had.
    init(answer: Data? = nil) throws {
        let box = Box()
        self.box = box
        listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        let listener = listener
        guard LoopbackAddress.with(0, { bind(listener, $0, $1) }) == 0, listen(listener, 16) == 0,
            let port = LoopbackAddress.port({ getsockname(listener, $0, $1) })
        else {
            let code = errno
            _ = Glibc.close(listener)
            throw RawConnection.Failure(code: code)
        }
        self.port = Int(port)
        Thread.detachNewThread {
            while true {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { return }
                _ = fcntl(connection, F_SETFD, FD_CLOEXEC)
                Thread.detachNewThread { Self.serve(connection, answer, box) }
            }
        }
    }

    deinit {
        _ = shutdown(listener, CInt(SHUT_RDWR))
        _ = Glibc.close(listener)
    }

    private static func serve(_ connection: CInt, _ answer: Data?, _ box: Box) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        defer { _ = Glibc.close(connection) }
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            guard let answer else {
                guard send(buffer[..<count], on: connection) else { return }
                continue
            }
            let isWhole = box.bytes.withLock { bytes in
                bytes += buffer[..<count]
                return bytes.suffix(4) == Data("\r\n\r\n".utf8)
            }
            if isWhole, !send(ArraySlice(answer), on: connection) { return }
        }
    }

    private static func send(_ bytes: ArraySlice<UInt8>, on connection: CInt) -> Bool {
        var rest = bytes
        while !rest.isEmpty {
            let sent = rest.withUnsafeBytes { Glibc.send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
            guard sent > 0 else { return false }
            rest = rest.dropFirst(sent)
        }
        return true
    }
}
#endif
