public import Foundation

/// Where a rule takes its answers from.
public struct Route: Sendable, CustomStringConvertible {
    package indirect enum Kind: Sendable {
        case network
        case cache(CacheStrategy)
        case files(directory: URL, base: String, otherwise: Route)
        case pack(overlay: CacheStrategy?, otherwise: Route)
        case nowhere
    }

    package let kind: Kind

    /// The network.
    ///
    /// With nothing to store or to change, Foundation's own loader runs the task, unless the app has set
    /// ``Interceptor/Configuration/makeTransport``: then that transport gets the request.
    public static let network = Route(kind: .network)

    /// The response cache and the network, in the order of `strategy`.
    ///
    /// Needs a ``Interceptor/Configuration/cache``.
    public static func cache(_ strategy: CacheStrategy) -> Route { Route(kind: .cache(strategy)) }

    /// The files of a directory, as a web server would serve them.
    ///
    /// - Parameters:
    ///   - directory: The folder that holds the site. It must exist when the interceptor is made.
    ///   - base: The URL of the folder's top, such as `https://app.example/shop/`. URLs outside it, and files
    ///     that the folder lacks, go on to `otherwise`.
    ///   - otherwise: Where such requests go; the network by default.
    /// - Returns: The route.
    public static func files(in directory: URL, at base: String, orElse otherwise: Route = .network) -> Route {
        Route(kind: .files(directory: directory, base: base, otherwise: otherwise))
    }

    /// The installed packs, by the URLs that their manifests give.
    ///
    /// Needs ``Interceptor/Configuration/packs``. URLs that no pack has go on to `otherwise`, and so do all while their
    /// module is switched off, has no version, or has one below the lowest that may still be used.
    public static func pack(orElse otherwise: Route = .network) -> Route {
        Route(kind: .pack(overlay: nil, otherwise: otherwise))
    }

    /// The installed packs, of which the network may lay fresher files over single files.
    ///
    /// A pack's file counts as a stored response that was released with its pack, and `strategy` decides about it as
    /// about any other: with `.revalidate` the origin is asked each time, with `.staleWhileRevalidate(upTo:)` behind
    /// the app's back. What comes back is kept in the ``Interceptor/Configuration/cache``; the pack is not touched, and
    /// what is laid over it goes when another version of the pack is activated.
    ///
    /// - Parameters:
    ///   - strategy: When the network is asked about a file that the pack has.
    ///   - otherwise: Where URLs go that no pack has; the network by default.
    /// - Returns: The route.
    public static func pack(overlay strategy: CacheStrategy, orElse otherwise: Route = .network) -> Route {
        Route(kind: .pack(overlay: strategy, otherwise: otherwise))
    }

    /// The installed packs, else the network.
    public static let pack = Route.pack()

    /// Nowhere: the load fails with `URLError.resourceUnavailable`.
    ///
    /// For the end of a chain that must not reach the network.
    public static let nowhere = Route(kind: .nowhere)

    /// As it is written in code.
    public var description: String {
        switch kind {
        case .network: "network"
        case .cache(let strategy): "cache(\(strategy))"
        case .files(let directory, let base, let otherwise):
            "files(in: \(directory.path), at: \(base), orElse: \(otherwise))"
        case .pack(nil, let otherwise): "pack(orElse: \(otherwise))"
        case .pack(let overlay?, let otherwise): "pack(overlay: \(overlay), orElse: \(otherwise))"
        case .nowhere: "nowhere"
        }
    }
}
