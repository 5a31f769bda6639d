#if Packs
extension Route {
    /// The installed packs, by the URLs that their manifests give.
    ///
    /// The route needs ``Interceptor/Configuration/packs``. Requests for URLs that no pack has continue to `otherwise`.
    /// All requests of a module continue to `otherwise` if the module is switched off, has no version, or has a version
    /// below the lowest that may still be used.
    public static func pack(orElse otherwise: Route = .network) -> Route {
        Route(kind: .pack(overlay: nil, otherwise: otherwise))
    }

    /// The installed packs, whose single files may be replaced by newer ones from the network.
    ///
    /// A pack's file counts as a stored response that arrived when its pack was released, and `strategy` decides about
    /// it as about any other: with `.revalidate` the origin is asked each time, with `.staleWhileRevalidate(upTo:)` in
    /// the background. A newer response is stored in the ``Interceptor/Configuration/cache``. The pack itself is not
    /// changed, and the newer responses are removed when another version of the pack is activated.
    ///
    /// - Parameters:
    ///   - strategy: Decides when the network is asked about a file that the pack has.
    ///   - otherwise: The route for URLs that no pack has; the network by default.
    /// - Returns: The route.
    public static func pack(overlay strategy: CacheStrategy, orElse otherwise: Route = .network) -> Route {
        Route(kind: .pack(overlay: strategy, otherwise: otherwise))
    }

    /// The installed packs; the network for all other URLs.
    public static let pack = Route.pack()
}
#endif
