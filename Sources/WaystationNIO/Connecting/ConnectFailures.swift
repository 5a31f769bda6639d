#if NIO
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

extension TransportFailure {
    /// The failure of a TCP connect, with the code that plain `URLSession` reports for it.
    init(connecting error: any Error, host: String, port: Int) {
        let place = "\(host), port \(port)"
        switch error {
        case let error as NIOConnectionError where error.isLookUpFailure:
            self.init(
                .cannotFindHost,
                "The name \(host) has no address: \(error.dnsAError ?? error). Check the name and the name server."
            )
        case let error as NIOConnectionError where error.connectionErrors.contains { $0.error.isConnectTimeout }:
            self.init(.timedOut, "Connecting to \(place) took too long. Raise connectTimeout, or try again later.")
        case let error where error.isConnectTimeout:
            self.init(.timedOut, "Connecting to \(place) took too long. Raise connectTimeout, or try again later.")
        case let error as NIOConnectionError:
            let reasons = error.connectionErrors.map { "\($0.error)" }.joined(separator: "; ")
            self.init(.cannotConnectToHost, "Cannot connect to \(place): \(reasons). Check that the server is running.")
        default:
            self.init(.cannotConnectToHost, "Cannot connect to \(place): \(error). Check that the server is running.")
        }
    }

    /// The failure of a TLS handshake; plain `URLSession` has no code of its own for it.
    init(handshake error: any Error, host: String) {
        if case ChannelError.eof = error {
            self.init(.unknown, "The server \(host) closed the connection before it was ready. Try again later.")
        } else {
            self.init(
                .unknown,
                """
                The TLS handshake with \(host) failed: \(Self.reason(for: error)). Check the server's certificate and \
                the trusted roots.
                """
            )
        }
    }

    /// The reason in words: BoringSSL describes an error by a name, such as `CERTIFICATE_VERIFY_FAILED`, and by a place
    /// in its source, which is of no use to users.
    private static func reason(for error: any Error) -> String {
        let text = "\(error)"
        let names = text.matches(of: #/OPENSSL_internal:([A-Z0-9_]+)/#).map(\.1)
        guard !names.isEmpty else { return text }
        return names.joined(separator: ", ").replacing("_", with: " ").lowercased()
    }
}

extension NIOConnectionError {
    fileprivate var isLookUpFailure: Bool {
        connectionErrors.isEmpty && (dnsAError != nil || dnsAAAAError != nil)
    }
}

extension Error {
    fileprivate var isConnectTimeout: Bool {
        if case .connectTimeout? = self as? ChannelError { return true }
        return false
    }
}
#endif
