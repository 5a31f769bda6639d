import Foundation

extension PackDescription {
    /// Describes an offered pack by its offer; nil when the offer has no version and none can be derived.
    init?(of offer: ModuleOffer) {
        let digest = offer.archive?.digest ?? offer.patches.lazy.compactMap(\.result).first
        guard
            let version = offer.version ?? offer.archive.flatMap({ Self.version(inNameOf: $0.url) })
                ?? digest.flatMap(Self.version(of:))
        else { return nil }
        self.init(
            module: offer.module,
            version: version,
            baseURLs: offer.baseURLs.map(\.absoluteString),
            released: offer.released
        )
        whitelist = offer.whitelist ?? []
    }

    /// A version for a pack whose version is unknown: below every other one, and the same for the same bytes.
    private static func version(of digest: PackDigest) -> PackVersion? { PackVersion("0-\(digest.hex.prefix(12))") }

    /// The last part of a file name that is a version: `1.4.2` in `shop-1.4.2.zip`.
    private static func version(inNameOf url: URL) -> PackVersion? {
        let name = url.deletingPathExtension().lastPathComponent
        let starts = name.indices.filter { index in
            name[index].isNumber
                && (index == name.startIndex || !"0123456789.".contains(name[name.index(before: index)]))
        }
        return starts.compactMap { start in
            let text = name[start...]
            return PackVersion(String(text)) ?? PackVersion(String(text.prefix { $0.isNumber || $0 == "." }))
        }.last
    }
}
