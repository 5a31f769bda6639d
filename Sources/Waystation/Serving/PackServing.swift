import Foundation

extension Serving {
    /// The verdict of the installed packs.
    ///
    /// A file that differs from the installed one is not served: the damage is reported to the library, and the request
    /// continues with the next source.
    func pack(_ packs: any InstalledPacks, otherwise: @escaping @Sendable () -> Verdict) -> Verdict {
        guard let found = packs.file(for: canonical.url) else { return otherwise() }
        return pack(found, otherwise: otherwise)
    }

    func pack(_ found: InstalledFile, otherwise: @escaping @Sendable () -> Verdict) -> Verdict {
        var file = OfflineFile(directory: found.directory, path: found.path, source: .pack)
        file.onDamage = found.reportDamage
        file.lacksSlash = found.lacksSlash
        return verdict(file, otherwise: otherwise)
    }
}
