import WaystationPacks

/// The keys of a release directory in a bucket; see ``ReleaseDirectory``.
enum BucketLayout {
    static let index = "releases.json"
    static let catalogue = "catalogue.json"
    static let packs = "packs/"
    static let catalogues = "catalogues/"

    /// The place of a signed catalogue before and while it is put in place.
    static func staged(_ catalogue: PackDigest) -> String { "\(catalogues)\(catalogue.hex).json" }
}
