#if Gateway
import Foundation
import Glibc
import WaystationOrigin

/// A server at 127.0.0.1 that sends all bytes back, and the end of them.
final class EchoServer: Sendable {
    let port: Int
    private let listener: CInt

    init() throws {
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
                Thread.detachNewThread { Self.echo(on: connection) }
            }
        }
    }

    deinit {
        _ = shutdown(listener, CInt(SHUT_RDWR))
        _ = Glibc.close(listener)
    }

    private static func echo(on connection: CInt) {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        defer { _ = Glibc.close(connection) }
        while true {
            let count = recv(connection, &buffer, buffer.count, 0)
            guard count > 0 else { return }
            var rest = buffer[..<count]
            while !rest.isEmpty {
                let sent = rest.withUnsafeBytes { send(connection, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL)) }
                guard sent > 0 else { return }
                rest = rest.dropFirst(sent)
            }
        }
    }
}
#endif
