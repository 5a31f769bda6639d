#if !Packs
extension Route {
    /// Not available: packs need the package trait `Packs`.
    @available(*, unavailable, message: "packs need the package trait Packs: add .defaults to the dependency's traits")
    public static func pack(orElse otherwise: Route = .network) -> Route { otherwise }

    /// Not available: packs need the package trait `Packs`.
    @available(*, unavailable, message: "packs need the package trait Packs: add .defaults to the dependency's traits")
    public static func pack(overlay strategy: CacheStrategy, orElse otherwise: Route = .network) -> Route { otherwise }

    /// Not available: packs need the package trait `Packs`.
    @available(*, unavailable, message: "packs need the package trait Packs: add .defaults to the dependency's traits")
    public static var pack: Route { .network }
}
#endif
