import WaystationFileSystem
import WaystationPacks

/// The keys of a release directory in a bucket; see ``ReleaseDirectory``.
enum BucketLayout {
    static let index = "releases.json"
    static let catalogue = "catalogue.json"
    static let packs = "packs/"
    static let catalogues = "catalogues/"

    /// The place of a signed catalogue before and while it is put in place.
    static func staged(_ catalogue: PackDigest) -> String { "\(catalogues)\(catalogue.hex).json" }

    /// Whether a key has the form of those that publishers give to packs, patches and staged catalogues.
    ///
    /// A bucket may have other objects, which are not the publisher's.
    static func isMadeByPublishers(_ key: String) -> Bool {
        let parts = key.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        if key.hasPrefix(catalogues) {
            let digest = PackDigest(String(key.dropFirst(catalogues.count).dropLast(5)))
            return digest?.algorithm == .sha256 && digest.map(staged) == key
        }
        guard key.hasPrefix(packs), parts.count > 4, let module = ModuleID(parts[1]),
            let version = PackVersion(parts[2]), RandomName.isPossible(parts[3])
        else { return false }
        let paths = ReleasePaths(module: module, version: version, attempt: parts[3])
        let patches = PatchOffer.Kind.allCases.compactMap { kind -> String? in
            // The version in front may have hyphens of its own.
            let end = "-\(kind.rawValue).patch"
            guard let name = parts.last, name.hasSuffix(end) else { return nil }
            return PackVersion(String(name.dropLast(end.count))).map { paths.patch(kind, from: $0) }
        }
        return ([paths.archive] + patches).contains { "\(paths.folder)/\($0)" == key }
    }
}
