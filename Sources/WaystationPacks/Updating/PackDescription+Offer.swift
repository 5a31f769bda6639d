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
    ///
    /// Only the last 255 bytes of the name are searched, since a server may send a name of any length.
    private static func version(inNameOf url: URL) -> PackVersion? {
        let name = url.deletingPathExtension().lastPathComponent.utf8
        for start in name.indices.suffix(255).reversed() {
            let isStart = start == name.startIndex || !isDigitOrDot(name[name.index(before: start)])
            guard isStart, isDigitOrDot(name[start]), name[start] != UInt8(ascii: ".") else { continue }
            let text = String(decoding: name[start...], as: UTF8.self)
            let number = String(decoding: name[start...].prefix(while: isDigitOrDot), as: UTF8.self)
            if let version = PackVersion(text) ?? PackVersion(number) { return version }
        }
        return nil
    }

    private static func isDigitOrDot(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: ".") || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
