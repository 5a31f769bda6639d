import Foundation
import FoundationNetworking
import Synchronization

/// The network behind one intercepted configuration: a transport made with the first request that needs it.
final class Network: Sendable {
    private struct Settings: @unchecked Sendable {
        // `@unchecked`: a private copy of a configuration that nobody changes any more.
        let configuration: URLSessionConfiguration
    }

    private let settings: Settings
    private let makeTransport: @Sendable (URLSessionConfiguration) -> any Transport
    private let made = Mutex<(any Transport)?>(nil)

    init(
        _ configuration: URLSessionConfiguration,
        makeTransport: @escaping @Sendable (URLSessionConfiguration) -> any Transport
    ) {
        settings = Settings(configuration: (configuration.copy() as? URLSessionConfiguration) ?? .default)
        self.makeTransport = makeTransport
    }

    /// The transport; the same for the whole life of the network.
    var transport: any Transport {
        if let transport = made.withLock({ $0 }) { return transport }
        // Made outside the lock, since it is the app's code; of two made at once the first to be kept is used.
        let transport = makeTransport(settings.configuration)
        return made.withLock { made in
            made = made ?? transport
            return made ?? transport
        }
    }

    /// Where credentials for challenges are looked up.
    var credentials: URLCredentialStorage? { settings.configuration.urlCredentialStorage }

    /// The cache that the app itself gave its configuration.
    var urlCache: URLCache? { settings.configuration.urlCache }

    /// The class that loads a request that is handed back: the next in the app's own configuration.
    func loader(for request: URLRequest) -> URLProtocol.Type? {
        (settings.configuration.protocolClasses ?? []).lazy
            .compactMap { $0 as? URLProtocol.Type }
            .first { $0.canInit(with: request) }
    }
}
