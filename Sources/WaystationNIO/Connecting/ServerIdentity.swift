#if NIO
import NIOSSL
import WaystationFields

/// The names that a server's certificate is for (RFC 9110 §4.3.4 and RFC 9525 §6).
///
/// NIOSSL checks the certificate, but for a name it also accepts a certificate for the address that the connection
/// leads to. Then an attacker who controls the name service could use a certificate for an address of his own, and
/// pass for any name. So the names are checked once more.
struct ServerIdentity: Equatable {
    enum Name: Equatable {
        case dns(String)
        /// The bytes of an IPv4 or IPv6 address.
        case address([UInt8])
    }

    struct Mismatch: Error, CustomStringConvertible {
        /// The number of names that are shown; a certificate may have thousands.
        static let shownNames = 10

        var host: String
        var names: [Name]

        var description: String {
            var list = names.prefix(Self.shownNames).map { name in
                switch name {
                case .dns(let text): text.shown()
                case .address(let bytes): NumericAddress.text(of: bytes) ?? "an address of \(bytes.count) bytes"
                }
            }
            if names.count > list.count { list.append("\(names.count - list.count) others") }
            return "the certificate is for \(list.joined(separator: ", ")), not for \(host)"
        }
    }

    /// The subject's alternative names; those that are neither names of hosts nor addresses are left out.
    var names: [Name]
    /// Whether the certificate has any alternative name.
    ///
    /// If it has none, NIOSSL has checked the common name, which can only be that of a name.
    var hasAlternativeNames: Bool

    init(names: [Name], hasAlternativeNames: Bool) {
        self.names = names
        self.hasAlternativeNames = hasAlternativeNames
    }

    init(_ certificate: NIOSSLCertificate?) {
        let alternatives = certificate?._subjectAlternativeNames()
        names = (alternatives.map { Array($0) } ?? []).compactMap { name in
            switch name.nameType {
            case .dnsName: .dns(String(decoding: name.contents, as: UTF8.self).lowercased())
            case .ipAddress: .address(Array(name.contents))
            default: nil
            }
        }
        hasAlternativeNames = alternatives.map { !$0.isEmpty } ?? false
    }

    /// Checks that the certificate is for a host.
    ///
    /// - Parameter host: A name or an IP address, in lower case and without brackets.
    /// - Throws: A `Mismatch` if none of the names is the host's.
    func check(isFor host: String) throws {
        let isMatch: Bool
        if let address = NumericAddress(host) {
            isMatch = names.contains(.address(address.bytes))
        } else {
            guard hasAlternativeNames else { return }
            let name = host.hasSuffix(".") ? host.dropLast() : Substring(host)
            isMatch = names.contains { candidate in
                guard case .dns(let pattern) = candidate else { return false }
                return Self.matches(name, pattern)
            }
        }
        guard isMatch else { throw Mismatch(host: host, names: names) }
    }

    /// A pattern is a name, or `*.` and a name of at least two labels; the star stands for one label.
    private static func matches(_ name: Substring, _ pattern: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return name == pattern }
        let parent = pattern.dropFirst(2)
        guard parent.contains("."), let dot = name.firstIndex(of: "."), dot != name.startIndex else { return false }
        return name[name.index(after: dot)...] == parent
    }
}

extension Origin {
    /// The name that TLS sends to the server: without the dot at the end of an absolute name, and nil for an address,
    /// which the certificate must then name (RFC 6066 §3).
    var serverName: String? {
        guard NumericAddress(host) == nil else { return nil }
        return host.hasSuffix(".") ? String(host.dropLast()) : host
    }
}
#endif
