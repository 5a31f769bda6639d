import Foundation
import WaystationHTTP
import WaystationStorage

/// Finds the file for a URL: holds all files of all active packs, by canonical URL without a query and without needless
/// escapes.
///
/// The index is built when a pack is activated; a look-up is one dictionary access.
struct PackIndex: Sendable {
    struct Entry: Sendable {
        let pack: ActivePack
        /// The decoded path of the file in its pack.
        let path: String
        /// The path to request from the pack's directory: percent-encoded, without the index document where the URL has
        /// none.
        let request: String
        /// Whether the URL is that of a folder without its slash.
        var lacksSlash = false
    }

    private var entries: [String: Entry] = [:]

    init(_ packs: [(pack: ActivePack, whitelist: [String]?)] = []) {
        entries.reserveCapacity(packs.reduce(0) { $0 + $1.pack.manifest.files.count * $1.pack.manifest.baseURLs.count })
        for (pack, whitelist) in packs {
            let allowed = whitelist.map(Whitelist.init)
            add(pack) { allowed?.allows($0) ?? true }
        }
    }

    subscript(url: CanonicalURL) -> Entry? {
        // Without a query, the whole text is the key.
        guard url.query != nil, let end = url.string.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            return entries[OfflinePath.plain(url.string)]
        }
        return entries[OfflinePath.plain(String(url.string[..<end]))]
    }

    private mutating func add(_ pack: ActivePack, where isAllowed: (CanonicalURL) -> Bool) {
        let located = pack.manifest.files.map { file in
            (path: file.path, names: file.path.split(separator: "/").map { OfflinePath.encoded(String($0)) })
        }
        for base in pack.manifest.baseURLs {
            for (path, names) in located {
                let encoded = names.joined(separator: "/")
                put(Entry(pack: pack, path: path, request: encoded), at: base + encoded, isAllowed)
            }
            for document in pack.directory.options.indexDocuments {
                for (path, names) in located where names.last == document {
                    let folder = names.dropLast().joined(separator: "/")
                    if folder.isEmpty {
                        put(Entry(pack: pack, path: path, request: ""), at: base, isAllowed)
                        // The base of a whole host has no other spelling: without its slash it is the same URL.
                        let bare = Entry(pack: pack, path: path, request: "", lacksSlash: true)
                        put(bare, at: base.trimmingTrailingSlash, isAllowed)
                    } else {
                        put(Entry(pack: pack, path: path, request: folder + "/"), at: base + folder + "/", isAllowed)
                        let bare = Entry(pack: pack, path: path, request: folder, lacksSlash: true)
                        put(bare, at: base + folder, isAllowed)
                    }
                }
            }
        }
    }

    /// Adds a URL, unless an earlier pack has it or the whitelist does not allow it.
    private mutating func put(_ entry: Entry, at url: String, _ isAllowed: (CanonicalURL) -> Bool) {
        guard let url = CanonicalURL(url) else { return }
        let key = OfflinePath.plain(url.string)
        guard entries[key] == nil, isAllowed(url) else { return }
        entries[key] = entry
    }
}

/// A pack that answers requests: its manifest, and its files with their expected digests.
final class ActivePack: Sendable {
    let module: ModuleID
    let folder: String
    let manifest: PackManifest
    let root: URL
    let directory: OfflineDirectory

    init(module: ModuleID, folder: String, manifest: PackManifest, root: URL) throws {
        self.module = module
        self.folder = folder
        self.manifest = manifest
        self.root = root
        let pins = manifest.files.map { file in
            let mediaType = file.mediaType.map { MediaType(essence: $0) }
            return (path: file.path, pin: PinnedFiles.Pin(digest: Data(hexadecimal: file.sha256), mediaType: mediaType))
        }
        directory = try OfflineDirectory(root, pins: PinnedFiles(pins, lastModified: manifest.released))
    }
}
