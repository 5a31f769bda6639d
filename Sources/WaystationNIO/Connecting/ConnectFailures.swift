#if NIO
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension TransportFailure {
    /// The failure of a TCP connect, with the code that plain `URLSession` reports for it.
    init(connecting error: any Error, host: String, port: Int) {
        let place = "\(host), port \(port)"
        switch error {
        case let error where error.isLackOfDescriptors:
            self.init(
                .cannotConnectToHost,
                """
                Cannot connect to \(place): the process has too few descriptors left for another connection. Let it have \
                more open files (ulimit -n), or load from fewer servers at a time.
                """
            )
            lacksDescriptors = true
        case let error as NIOConnectionError where error.isLookUpFailure:
            self.init(
                .cannotFindHost,
                "The name \(host) has no address: \((error.dnsAError ?? error).inWords). Check the name and the name server."
            )
        case let error as NIOConnectionError where error.connectionErrors.contains { $0.error.isConnectTimeout }:
            self.init(.timedOut, "Connecting to \(place) took too long. Raise connectTimeout, or try again later.")
        case let error where error.isConnectTimeout:
            self.init(.timedOut, "Connecting to \(place) took too long. Raise connectTimeout, or try again later.")
        case let error as NIOConnectionError:
            var reasons: [String] = []
            for reason in error.connectionErrors.map(\.error.inWords) where !reasons.contains(reason) {
                reasons.append(reason)
            }
            let list = reasons.joined(separator: "; ")
            self.init(.cannotConnectToHost, "Cannot connect to \(place): \(list). Check that the server is running.")
        default:
            self.init(
                .cannotConnectToHost,
                "Cannot connect to \(place): \(error.inWords). Check that the server is running."
            )
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
                The TLS handshake with \(host) failed: \(error.inWords). Check the server's certificate and \
                the trusted roots.
                """
            )
        }
    }
}

extension NIOConnectionError {
    fileprivate var isLookUpFailure: Bool {
        connectionErrors.isEmpty && (dnsAError != nil || dnsAAAAError != nil)
    }
}

extension Error {
    /// The reason in words.
    ///
    /// NIO describes an error of the system by the call that has reported it, which was another one than the call that
    /// failed. BoringSSL describes an error by a name, such as `CERTIFICATE_VERIFY_FAILED`, and by a place in its source,
    /// which is of no use to users.
    var inWords: String {
        if let error = self as? IOError { return String(cString: strerror(error.errnoCode)) }
        let text = "\(self)"
        let names = text.matches(of: #/OPENSSL_internal:([A-Z0-9_]+)/#).map(\.1)
        guard !names.isEmpty else { return text }
        return names.joined(separator: ", ").replacing("_", with: " ").lowercased()
    }

    fileprivate var isConnectTimeout: Bool {
        if case .connectTimeout? = self as? ChannelError { return true }
        return false
    }

    /// Whether the process or the system has as many open files as it may have.
    fileprivate var isLackOfDescriptors: Bool {
        switch self {
        case let error as IOError: error.errnoCode == EMFILE || error.errnoCode == ENFILE
        case let error as NIOConnectionError:
            error.connectionErrors.contains { $0.error.isLackOfDescriptors }
                || [error.dnsAError, error.dnsAAAAError].contains { $0?.isLackOfDescriptors == true }
        default: false
        }
    }
}
#endif
