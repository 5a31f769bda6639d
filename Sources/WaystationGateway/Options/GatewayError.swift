#if Gateway
public import Foundation
import NIOCore

/// The reason why a gateway cannot be started.
public struct GatewayError: LocalizedError, Sendable, CustomStringConvertible {
    /// The problem, and how to correct it.
    public let description: String
    /// Whether the machine lacks the address.
    let isAddressMissing: Bool

    /// The description, for `localizedDescription`.
    public var errorDescription: String? { description }

    init(_ description: String) {
        self.description = description
        isAddressMissing = false
    }

    init(listening host: String, _ port: Int, _ error: any Error) {
        let code = (error as? IOError)?.errnoCode
        isAddressMissing = code == EADDRNOTAVAIL || code == EAFNOSUPPORT
        description =
            switch code {
            case EADDRINUSE:
                "port \(port) of \(host) is in use: stop the program that has it, or choose another port"
            case EACCES: "port \(port) of \(host) needs privileges: choose a port from 1024"
            default: "the gateway cannot listen at \(host), port \(port): \(error)"
            }
    }
}
#endif
