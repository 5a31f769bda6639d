extension LocalPack {
    init(_ version: ModuleRecord.Version) {
        self.init(
            version.version,
            manifest: PackDigest("sha256-\(version.manifestSHA256)"),
            archiveDigests: version.archiveDigests ?? [],
            isArchiveKept: version.isArchiveKept ?? false,
            archiveURL: version.archiveURL
        )
    }

    /// Whether an installed copy is this pack; two packs may have the same version number, so the manifest is compared
    /// too.
    func isCopied(by copy: ModuleRecord.Version) -> Bool {
        version == copy.version && (manifest.map { $0.hex == copy.manifestSHA256 } ?? true)
    }
}
