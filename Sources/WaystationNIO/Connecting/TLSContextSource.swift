#if NIO
import Dispatch
import Foundation
import NIOCore
import NIOSSL
import Synchronization
import WaystationFileSystem

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
#endif
