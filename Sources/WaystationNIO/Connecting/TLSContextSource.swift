#if NIO
import Dispatch
import Foundation
import NIOCore
import NIOSSL
import Synchronization

/// Makes the TLS context of a transport when it is first needed, and keeps it.
///
/// Making one reads the system's certificates, which takes several milliseconds, so it is done off the event loop.
final class TLSContextSource: Sendable {
    typealias Answer = Result<NIOSSLContext, TransportFailure>

    private enum State {
        case none
        case making([@Sendable (Answer) -> Void])
        case made(Answer)
    }

    private let make: @Sendable () -> Answer
    private let state = Mutex(State.none)

    init(_ options: NIOOptions, protocols: [String]) {
        make = {
            Result { try NIOSSLContext(configuration: try options.tlsConfiguration(protocols: protocols)) }
                .mapError { TransportFailure(.unknown, "TLS cannot be set up: \($0). Check the transport's options.") }
        }
    }

    /// Passes the context on, on the loop.
    func context(on loop: any EventLoop, _ completion: @escaping @Sendable (Answer) -> Void) {
        let answer: Answer?
        let isFirst: Bool
        (answer, isFirst) = state.withLock { state in
            switch state {
            case .made(let answer): return (answer, false)
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
            defer { state = .made(answer) }
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
            case .pemFile(let path): .certificates(try NIOSSLCertificate.fromPEMFile(path))
            case .der(let bytes): .certificates([try NIOSSLCertificate(bytes: Array(bytes), format: .der)])
            }
        }
        if let clientIdentity {
            configuration.certificateChain = try NIOSSLCertificate.fromPEMFile(clientIdentity.certificatePath)
                .map { .certificate($0) }
            configuration.privateKey = .privateKey(
                try NIOSSLPrivateKey(file: clientIdentity.privateKeyPath, format: .pem)
            )
        }
        return configuration
    }
}
#endif
