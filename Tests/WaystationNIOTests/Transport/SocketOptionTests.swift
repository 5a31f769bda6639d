#if NIO
import Foundation
import Glibc
import Testing

@testable import WaystationNIO

@Suite("The sockets of the engine", .timeLimit(.minutes(10)))
struct SocketOptionTests {
    @Test("send small requests at once, and have no option for which a process needs privileges")
    func options() async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkept"), .again]
        }
        let transport = NIOTransport.plain()
        #expect(await transport.load(origin.url()).text == "kept")
        let sockets = (0..<CInt(4096)).filter { Self.isConnected($0, to: UInt16(origin.port)) }
        #expect(sockets.count == 1)
        for socket in sockets {
            #expect(Self.option(TCP_NODELAY, of: CInt(IPPROTO_TCP), socket) == 1)
            // Only a process with CAP_NET_ADMIN may set it (socket(7)).
            #expect(Self.option(SO_DEBUG, of: SOL_SOCKET, socket) == 0)
        }
        withExtendedLifetime(transport) {}
    }

    @Test("are closed in the programs that the app starts")
    func inheritance() async throws {
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nkept"), .again]
        }
        let transport = NIOTransport.plain()
        #expect(await transport.load(origin.url()).text == "kept")
        let sockets = (0..<CInt(4096)).filter { Self.isConnected($0, to: UInt16(origin.port)) }
        #expect(sockets.count == 1)
        #expect(sockets.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
        withExtendedLifetime(transport) {}
    }

    private static func isConnected(_ socket: CInt, to port: UInt16) -> Bool {
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(socket, $0, &length) }
        }
        return result == 0 && address.sin_family == sa_family_t(AF_INET) && UInt16(bigEndian: address.sin_port) == port
    }

    private static func option(_ name: CInt, of level: CInt, _ socket: CInt) -> CInt? {
        var value: CInt = -1
        var length = socklen_t(MemoryLayout<CInt>.size)
        return getsockopt(socket, level, name, &value, &length) == 0 ? value : nil
    }
}
#endif
