public import Foundation
import WaystationHTTP
import WaystationStorage

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

/// Finds the URLs at which the files of a pack are served, when only a whitelist is known.
///
/// The candidates of a whitelist entry are the folder that it names or lies in, and all folders above that. The entry's
/// root is the candidate below which the most files of the pack are on the whitelist. Among equal candidates, the one
/// nearest to the host wins, so that `/app/js/` beside `/app/` adds no root, and a zip that holds the folder `app` is
/// served at `/app/`. An entry has no root if no file is on the whitelist below any of its candidates.
///
/// A pure function of the whitelist and the paths. Its time is bounded: of many files, it counts only some, evenly
/// spread.
struct PackRoots {
    private static let maximumCandidates = 128
    private static let maximumFiles = 1000
    /// The maximum length of an entry in bytes, and the maximum number of folders in it; longer entries have no root.
    ///
    /// A pattern of URLs may have no more folders either. Without these limits, the candidates of one entry could fill
    /// the memory.
    private static let maximumLength = 4096
    private static let maximumFolders = 255

    private let whitelist: Whitelist
    /// For each counted file, the paths relative to a root that lead to it.
    private let paths: [[String]]
    private var counts: [String: Int] = [:]

    /// The roots of files with these paths; empty when the whitelist leads to none.
    static func of(_ paths: [String], in whitelist: [String]) -> [String] {
        var search = PackRoots(paths, whitelist)
        var roots: [String] = []
        for entry in whitelist {
            if let root = search.root(of: entry), !roots.contains(root) { roots.append(root) }
        }
        return roots
    }

    private init(_ paths: [String], _ entries: [String]) {
        whitelist = Whitelist(entries)
        let sorted = paths.sorted()
        let step = max(1, sorted.count / Self.maximumFiles)
        let indexDocuments = OfflineDirectory.Options().indexDocuments
        self.paths = stride(from: 0, to: sorted.count, by: step).prefix(Self.maximumFiles).map { index in
            let names = sorted[index].split(separator: "/").map { OfflinePath.encoded(String($0)) }
            let path = names.joined(separator: "/")
            guard let name = names.last, indexDocuments.contains(name) else { return [path] }
            return [path, String(path.dropLast(name.count))]
        }
    }

    private mutating func root(of entry: String) -> String? {
        var best: (root: String, count: Int)?
        for candidate in Self.candidates(of: entry) {
            let count = count(below: candidate)
            if count > best?.count ?? 0 { best = (candidate, count) }
        }
        return best?.root
    }

    /// How many files are on the whitelist when the pack is served below a root.
    private mutating func count(below root: String) -> Int {
        if let known = counts[root] { return known }
        guard counts.count < Self.maximumCandidates else { return 0 }
        let count = paths.count(where: { names in
            names.contains { CanonicalURL(root + $0).map(whitelist.allows) ?? false }
        })
        counts[root] = count
        return count
    }

    /// The folders that may be the root of an entry, the one nearest to the host first.
    private static func candidates(of entry: String) -> [String] {
        guard entry.utf8.count <= maximumLength else { return [] }
        // The part before the first glob, query or fragment; behind its last slash is a file name, a part of one, or
        // nothing.
        let literal = entry.prefix { !"*?#".contains($0) }
        guard let url = CanonicalURL(String(literal)), url.userInfo == nil else { return [] }
        let names = url.path.split(separator: "/", omittingEmptySubsequences: false).dropFirst().dropLast()
        guard names.count <= maximumFolders else { return [] }
        let host = String(url.string.dropLast(url.path.utf8.count))
        return (0...names.count).map { depth in host + "/" + names.prefix(depth).map { "\($0)/" }.joined() }
    }
}
