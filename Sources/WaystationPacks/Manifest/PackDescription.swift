public import Foundation

/// The properties of a pack that has no manifest: for zips and folders.
public struct PackDescription: Hashable, Sendable {
    /// The module that the pack belongs to.
    public var module: ModuleID
    /// The pack's version.
    public var version: PackVersion
    /// The URLs at which the pack's root is served.
    public var baseURLs: [String]
    /// The release date.
    public var released: Date?
    /// The lowest version of the app that can use the pack.
    public var minimumAppVersion: PackVersion?
    /// The lowest version of the module that may still be used once this pack is known.
    public var minimumPackVersion: PackVersion?
    /// Media types by path, for files whose name and content do not show their type.
    public var mediaTypes: [String: String]
    /// The whitelist of an offer; where ``baseURLs`` is empty, ``PackRoots`` finds the pack's base URLs in it.
    var whitelist: [String] = []

    /// Describes a pack.
    public init(
        module: ModuleID,
        version: PackVersion,
        baseURLs: [String],
        released: Date? = nil,
        minimumAppVersion: PackVersion? = nil,
        minimumPackVersion: PackVersion? = nil,
        mediaTypes: [String: String] = [:]
    ) {
        self.module = module
        self.version = version
        self.baseURLs = baseURLs
        self.released = released
        self.minimumAppVersion = minimumAppVersion
        self.minimumPackVersion = minimumPackVersion
        self.mediaTypes = mediaTypes
    }

    /// The manifest of a pack with these files.
    package func manifest(of files: [PackedFile]) throws(PackError) -> PackManifest {
        try PackManifest(
            module: module,
            version: version,
            baseURLs: baseURLs.isEmpty ? PackRoots.of(files.map(\.path), in: whitelist) : baseURLs,
            released: released,
            minimumAppVersion: minimumAppVersion,
            minimumPackVersion: minimumPackVersion,
            files: files.map { file in
                PackedFile(
                    path: file.path,
                    size: file.size,
                    sha256: file.sha256,
                    mediaType: file.mediaType ?? mediaTypes[file.path]
                )
            }
        )
    }
}
