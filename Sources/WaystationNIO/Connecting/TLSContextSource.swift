#if NIO
import Dispatch
import Foundation
import NIOCore
import NIOSSL
import Synchronization
import WaystationHTTP
import WaystationStorage

/// The sources of the TLS contexts of a transport.
struct TLSContexts: Sendable {
    /// NIOSSL checks certificates and names in full.
    private let checkingNames: TLSContextSource
    /// NIOSSL leaves the name to ``ServerIdentity``.
    ///
    /// It would compare the certificate with the address that the socket is connected to, which is a proxy's.
    private let forAddressesInTunnels: TLSContextSource

    init(_ options: NIOOptions, protocols: [String]) {
        checkingNames = TLSContextSource(options, protocols: protocols)
        forAddressesInTunnels = TLSContextSource(options, protocols: protocols, checksName: false)
    }

    /// The source for the connections to an origin.
    func source(for origin: Origin) -> TLSContextSource {
        guard case .tunnel = origin.route, NumericAddress(origin.host) != nil else { return checkingNames }
        return forAddressesInTunnels
    }
}

/// Makes a TLS context of a transport when it is first needed, and keeps it.
///
/// Making one reads the system's certificates, which takes several milliseconds, so it is done off the event loop. If
/// that fails, the next connection tries it again: a file may be replaced, or descriptors be missing for a moment.
final class TLSContextSource: Sendable {
    typealias Answer = Result<NIOSSLContext, TransportFailure>

    private enum State {
        case none
        case making([@Sendable (Answer) -> Void])
        case made(NIOSSLContext)
    }

    private let make: @Sendable () -> Answer
    private let state = Mutex(State.none)

    /// Makes a source.
    ///
    /// - Parameters:
    ///   - options: The trusted roots, and the client's certificate.
    ///   - protocols: The protocols that ALPN offers.
    ///   - checksName: Whether NIOSSL compares the server's name, or the address of the connection, with the
    ///     certificate.
    init(_ options: NIOOptions, protocols: [String], checksName: Bool = true) {
        make = {
            Result {
                var configuration = try options.tlsConfiguration(protocols: protocols)
                if !checksName { configuration.certificateVerification = .noHostnameVerification }
                return try NIOSSLContext(configuration: configuration)
            }
            .mapError { TransportFailure(.unknown, "TLS cannot be set up: \($0). Check the transport's options.") }
        }
    }

    /// Passes the context on, on the loop.
    func context(on loop: any EventLoop, _ completion: @escaping @Sendable (Answer) -> Void) {
        let answer: Answer?
        let isFirst: Bool
        (answer, isFirst) = state.withLock { state in
            switch state {
            case .made(let context): return (.success(context), false)
            case .none:
                state = .making([self.completion(on: loop, completion)])
                return (nil, true)
            case .making(let others):
                state = .making(others + [self.completion(on: loop, completion)])
                return (nil, false)
            }
        }
        if let answer { return completion(answer) }
        if isFirst { DispatchQueue.global().async { self.finish() } }
    }

    private func completion(
        on loop: any EventLoop,
        _ completion: @escaping @Sendable (Answer) -> Void
    ) -> @Sendable (Answer) -> Void {
        { answer in loop.execute { completion(answer) } }
    }

    private func finish() {
        let answer = make()
        let waiting: [@Sendable (Answer) -> Void] = state.withLock { state in
            defer { state = (try? answer.get()).map(State.made) ?? .none }
            guard case .making(let waiting) = state else { return [] }
            return waiting
        }
        for completion in waiting { completion(answer) }
    }
}

extension NIOOptions {
    /// The configuration of a client that checks certificates and names in full.
    fileprivate func tlsConfiguration(protocols: [String]) throws -> TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.certificateVerification = .fullVerification
        configuration.applicationProtocols = protocols
        // A closed connection waits this long for the server's farewell; a cancelled load must not wait at all.
        configuration.shutdownTimeout = .milliseconds(10)
        configuration.additionalTrustRoots = try additionalTrustedRoots.map { roots in
            switch roots {
            case .pemFile(let path): .certificates(try NIOSSLCertificate.fromPEMBytes(Array(pemFile: path)))
            case .der(let bytes): .certificates([try NIOSSLCertificate(bytes: Array(bytes), format: .der)])
            }
        }
        if let clientIdentity {
            let chain = try NIOSSLCertificate.fromPEMBytes(Array(pemFile: clientIdentity.certificatePath))
            configuration.certificateChain = chain.map { .certificate($0) }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(bytes: Array(pemFile: clientIdentity.privateKeyPath), format: .pem)
            )
        }
        return configuration
    }
}

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

/// Chooses the version of HTTP for a new connection.
struct HTTPVersionChoice: Sendable {
    enum Version: Equatable, Sendable {
        case http1
        case http2
    }

    var versions: NIOOptions.HTTPVersions
    /// Whether the engine has an HTTP/2 connection at all.
    var canSpeakHTTP2: Bool

    /// The protocols that a TLS handshake offers, the preferred one first (RFC 7301).
    var offeredProtocols: [String] {
        switch versions {
        case .automatic: canSpeakHTTP2 ? ["h2", "http/1.1"] : ["http/1.1"]
        case .http1: ["http/1.1"]
        case .http2PriorKnowledge: canSpeakHTTP2 ? ["h2"] : []
        }
    }

    /// The version to speak.
    ///
    /// - Parameter negotiated: The protocol that the server chose; nil without TLS, or if it chose none.
    /// - Returns: The version.
    /// - Throws: A `TransportFailure` if no version remains.
    func version(negotiated: String?) throws -> Version {
        switch (versions, negotiated) {
        case (.http2PriorKnowledge, _) where !canSpeakHTTP2:
            throw TransportFailure(.unknown, "This build cannot speak HTTP/2. Choose other httpVersions.")
        case (.http2PriorKnowledge, nil), (.http2PriorKnowledge, "h2"): return .http2
        case (.automatic, "h2") where canSpeakHTTP2: return .http2
        case (.automatic, nil), (.automatic, "http/1.1"), (.http1, nil), (.http1, "http/1.1"): return .http1
        default:
            throw TransportFailure(
                .unknown,
                "The server chose the protocol \((negotiated ?? "").quoted()), which was not offered to it."
            )
        }
    }
}
#endif
