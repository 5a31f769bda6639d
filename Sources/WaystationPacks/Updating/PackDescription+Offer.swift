import Foundation

extension PackDescription {
    /// What an offer says of its pack; nil when that is too little.
    init?(of offer: ModuleOffer) {
        guard let version = offer.version ?? offer.archive.flatMap({ Self.version(inNameOf: $0.url) }) else {
            return nil
        }
        let bases =
            offer.baseURLs.isEmpty
            ? (offer.whitelist ?? []).compactMap(Self.base(ofEntry:)) : offer.baseURLs.map(\.absoluteString)
        self.init(module: offer.module, version: version, baseURLs: bases, released: offer.released)
    }

    /// The URL below which an entry of a whitelist takes everything: `https://shop.example/app/` and the same with `**`.
    private static func base(ofEntry entry: String) -> String? {
        let folder = entry.hasSuffix("**") ? String(entry.dropLast(2)) : entry
        return folder.hasSuffix("/") && !folder.contains("*") ? folder : nil
    }

    /// The last part of a file's name that is a version: `1.4.2` of `shop-1.4.2.zip`.
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
