public import WaystationTransport

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

extension Interceptor {
    /// The engine that carries requests to the network; see ``Configuration/transport``.
    public struct Carrier: Sendable {
        /// Makes the transport of a session from its configuration.
        let makeTransport: @Sendable (URLSessionConfiguration) -> any Transport
        let isFoundation: Bool

        /// Foundation's own loader, the default.
        ///
        /// Requests for which there is nothing to store or to change are handed back to it.
        public static let urlSession = Carrier(isFoundation: true) { URLSessionTransport(configuration: $0) }

        /// Another engine.
        ///
        /// It carries every data task that a rule lets through to the network, except requests that it cannot carry
        /// (``WaystationTransport/Transport/canCarry(_:)``), and those that a protocol class of the app's own
        /// configuration takes: Foundation's loader carries these. Uploads, downloads and web sockets stay with
        /// Foundation. To keep them from the network, set ``Configuration/makeTransport`` instead.
        ///
        /// - Parameter makeTransport: Makes the transport of a session from its configuration.
        public init(_ makeTransport: @escaping @Sendable (URLSessionConfiguration) -> any Transport) {
            self.init(isFoundation: false, makeTransport)
        }

        private init(
            isFoundation: Bool,
            _ makeTransport: @escaping @Sendable (URLSessionConfiguration) -> any Transport
        ) {
            self.isFoundation = isFoundation
            self.makeTransport = makeTransport
        }
    }
}
