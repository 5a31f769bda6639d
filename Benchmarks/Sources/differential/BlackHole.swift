import Glibc
import WaystationTesting

/// A loopback address and port to which no connection is ever made: the kernel drops the packets that ask for one.
///
/// It does so when the queue of a listener is full, so this listener accepts nothing, and fills its queue itself.
final class BlackHole: Sendable {
    struct Failure: Error { let code: Int32 }

    let port: UInt16
    private let sockets: [CInt]

    /// Takes a port of `::1` or of `127.0.0.1`; 0 lets the system pick one.
    init(isIPv6: Bool, port: UInt16 = 0) throws {
        let listener = Self.open(isIPv6)
        guard Self.withAddress(isIPv6, port, { bind(listener, $0, $1) }) == 0, listen(listener, 0) == 0 else {
            defer { close(listener) }
            throw Failure(code: errno)
        }
        self.port = Self.port(of: listener, isIPv6)
        let port = self.port
        // One connection fits into the queue; the second one is for kernels that take one more.
        let fillers = (0..<2).map { _ in
            let filler = Self.open(isIPv6)
            _ = Self.withAddress(isIPv6, port) { connect(filler, $0, $1) }
            return filler
        }
        sockets = [listener] + fillers
    }

    deinit { for socket in sockets { close(socket) } }

    private static func open(_ isIPv6: Bool) -> CInt {
        socket(isIPv6 ? AF_INET6 : AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    }

    private static func withAddress(
        _ isIPv6: Bool,
        _ port: UInt16,
        _ use: (UnsafePointer<sockaddr>, socklen_t) -> CInt
    ) -> CInt {
        func call<Address>(_ address: Address) -> CInt {
            withUnsafePointer(to: address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { use($0, socklen_t(MemoryLayout<Address>.size)) }
            }
        }
        if isIPv6 {
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            address.sin6_addr = in6addr_loopback
            return call(address)
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return call(address)
    }

    private static func port(of socket: CInt, _ isIPv6: Bool) -> UInt16 {
        // Both kinds of address have their port at the same place.
        var address = sockaddr_in6()
        var length = socklen_t(MemoryLayout<sockaddr_in6>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(socket, $0, &length) }
        }
        return UInt16(bigEndian: address.sin6_port)
    }
}
