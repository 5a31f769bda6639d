#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Checks of the names, addresses and ports of this machine.
enum NetworkChecks {
    static func all(port: UInt16?) -> [Finding] {
        [loopback4(), loopback6(), localNames(Address.resolve("shop-example.localhost"))]
            + (port.map { [self.port($0)] } ?? [])
    }

    private static func loopback4() -> Finding {
        let code = LoopbackPort.attempt(AF_INET, 0)
        guard code != 0 else { return .fine("127.0.0.1", "programs can listen there") }
        return .failed("127.0.0.1", "cannot be used: \(text(code))", "set up the interface lo: `ip link set lo up`")
    }

    private static func loopback6() -> Finding {
        let code = LoopbackPort.attempt(AF_INET6, 0)
        if code == 0 { return .fine("::1", "programs can listen there") }
        return .fine("::1", "this machine has no IPv6 on loopback, so a gateway listens at 127.0.0.1 alone")
    }

    /// Judges the addresses of a name below `localhost`.
    ///
    /// Browsers and curl do not ask the system for them (RFC 6761 §6.3); other programs may.
    static func localNames(_ addresses: [String]) -> Finding {
        let foreign = addresses.filter { !$0.hasPrefix("127.") && $0 != "::1" }
        if let address = foreign.first {
            return .failed(
                "*.localhost",
                "shop-example.localhost resolves to \(address), which is another machine",
                "correct the name server or /etc/hosts: names below localhost belong to this machine (RFC 6761)"
            )
        }
        if addresses.isEmpty {
            return .warning(
                "*.localhost",
                "the system does not know these names; browsers and curl do",
                "install libnss-myhostname if other programs are to load from a gateway"
            )
        }
        return .fine("*.localhost", addresses.joined(separator: ", "))
    }

    private static func port(_ port: UInt16) -> Finding {
        for family in [AF_INET, AF_INET6] {
            let code = LoopbackPort.attempt(family, port)
            if code == 0 || code == EADDRNOTAVAIL || code == EAFNOSUPPORT { continue }
            let advice =
                code == EADDRINUSE
                ? "stop the program that has it (`ss -ltnp` names it), or choose another port"
                : "choose a port from 1024"
            return .failed("port \(port)", text(code), advice)
        }
        return .fine("port \(port)", "is free")
    }

    private static func text(_ code: CInt) -> String { String(cString: strerror(code)) }
}

/// A port on loopback.
private enum LoopbackPort {
    /// Listens at a port for a moment; 0 stands for any.
    ///
    /// - Returns: The number of the system's error; 0 if there was none.
    static func attempt(_ family: CInt, _ port: UInt16) -> CInt {
        let descriptor = socket(family, CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return errno }
        defer { close(descriptor) }
        var isOn: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isOn, socklen_t(MemoryLayout<CInt>.size))
        let bound = family == AF_INET6 ? bind6(descriptor, port) : bind4(descriptor, port)
        guard bound == 0, listen(descriptor, 1) == 0 else { return errno }
        return 0
    }

    private static func bind4(_ descriptor: CInt, _ port: UInt16) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
        return bind(descriptor, to: &address)
    }

    private static func bind6(_ descriptor: CInt, _ port: UInt16) -> CInt {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = port.bigEndian
        address.sin6_addr = in6addr_loopback
        return bind(descriptor, to: &address)
    }

    private static func bind<Address>(_ descriptor: CInt, to address: inout Address) -> CInt {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }
}

/// The addresses of a name, as the system resolves it.
private enum Address {
    static func resolve(_ name: String) -> [String] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(name, nil, &hints, &found) == 0 else { return [] }
        defer { freeaddrinfo(found) }
        var addresses: [String] = []
        var next = found
        while let entry = next {
            var buffer = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(buffer.count)
            if getnameinfo(entry.pointee.ai_addr, entry.pointee.ai_addrlen, &buffer, length, nil, 0, NI_NUMERICHOST)
                == 0
            {
                addresses.append(
                    String(decoding: buffer.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
                )
            }
            next = entry.pointee.ai_next
        }
        return addresses
    }
}
