public import Foundation
package import WaystationTransport

/// The sources from which a rule takes its answers.
public struct Route: Sendable, CustomStringConvertible {
    package indirect enum Kind: Sendable {
        case network
        case cache(CacheStrategy)
        case files(directory: URL, base: String, otherwise: Route)
        case pack(overlay: CacheStrategy?, otherwise: Route)
        case nowhere
        /// A transport that answers in place of the network; the name is for descriptions.
        case carried(any Transport, name: String)
    }

    package let kind: Kind

    package init(kind: Kind) { self.kind = kind }

    /// The network.
    ///
    /// If there is nothing to store or to change, Foundation's own loader runs the task, unless the app has set
    /// ``Interceptor/Configuration/makeTransport``: then that transport gets the request.
    public static let network = Route(kind: .network)

    /// The response cache and the network, in the order of `strategy`.
    ///
    /// It needs a ``Interceptor/Configuration/cache``.
    public static func cache(_ strategy: CacheStrategy) -> Route { Route(kind: .cache(strategy)) }

    /// The files of a directory, as a web server would serve them.
    ///
    /// - Parameters:
    ///   - directory: The folder that holds the site. It must exist when the interceptor is made.
    ///   - base: The URL of the folder's top, such as `https://app.example/shop/`. Requests for URLs outside it, and
    ///     for files that the folder lacks, continue to `otherwise`.
    ///   - otherwise: The route for such requests; the network by default.
    /// - Returns: The route.
    public static func files(in directory: URL, at base: String, orElse otherwise: Route = .network) -> Route {
        Route(kind: .files(directory: directory, base: base, otherwise: otherwise))
    }

    /// No source: the load fails with `URLError.resourceUnavailable`.
    ///
    /// It ends a chain that must not reach the network.
    public static let nowhere = Route(kind: .nowhere)

    /// A transport that answers in place of the network, for the requests of one rule.
    ///
    /// The answers of such a transport are not stored, and no request is sent again when it reports a lost connection. It
    /// also gets uploads from `Data` and from files, which Foundation alone loads otherwise.
    package static func carried(by transport: any Transport, as name: String) -> Route {
        Route(kind: .carried(transport, name: name))
    }

    /// The route as it is written in code.
    public var description: String {
        switch kind {
        case .network: "network"
        case .cache(let strategy): "cache(\(strategy))"
        case .files(let directory, let base, let otherwise):
            "files(in: \(directory.path), at: \(base), orElse: \(otherwise))"
        case .pack(nil, let otherwise): "pack(orElse: \(otherwise))"
        case .pack(let overlay?, let otherwise): "pack(overlay: \(overlay), orElse: \(otherwise))"
        case .nowhere: "nowhere"
        case .carried(_, let name): name
        }
    }
}
