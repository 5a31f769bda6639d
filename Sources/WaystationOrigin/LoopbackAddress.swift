package import Foundation

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
