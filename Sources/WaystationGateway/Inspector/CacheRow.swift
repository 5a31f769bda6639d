#if Gateway
import Foundation
import HTTPTypes
import Waystation
import WaystationHTTP
import WaystationStorage
import WaystationPacks
import WaystationRecording

/// The stored responses that a search finds.
struct CacheListing: Encodable, Sendable {
    static let limit = 500

    /// How many responses the cache has, and how many the search finds.
    let total: Int
    let found: Int
    let bytes: Int
    /// The first of them.
    let entries: [CacheRow]

    static func read(_ inspector: StoreInspector, search: String) throws -> CacheListing {
        let totals = try inspector.totals()
        let found = try inspector.entries().filter { search.isEmpty || $0.key.url.localizedStandardContains(search) }
        return CacheListing(
            total: totals.entries,
            found: found.count,
            bytes: totals.bytes,
            entries: found.prefix(limit).map(CacheRow.init)
        )
    }
}

/// A stored response as the inspector lists it.
struct CacheRow: Encodable, Sendable {
    let id: Int64
    let method: String
    /// The URL without secrets.
    let url: String
    let partition: String
    let status: Int
    let arrived: Date
    let bytes: Int
    /// The request fields that selected the variant.
    let variant: [String]
    /// The bytes of a part, such as `bytes 0-999 of 5000`; nil for a whole response.
    let part: String?
    /// The requests that the response answers, in words, if its key is more than its URL; nil otherwise.
    let answers: String?
    /// The names that the app has given to the response.
    let tags: [String]
    /// The groups that the origin has put the response into.
    let groups: [String]

    init(_ entry: StoredEntry) {
        id = entry.id
        method = entry.key.method
        url = Redaction.standard.url(entry.key.url)
        partition = entry.key.partition
        status = entry.status
        arrived = entry.responseTime
        bytes = entry.size
        (tags, groups) = (entry.tags, entry.groups)
        part = entry.part?.description
        answers = entry.key.differenceInWords.map { "\(Redaction.standard.url(entry.key.answeredURL)), \($0)" }
        variant = entry.selectingFields.nominees.map { nominee in
            let name = nominee.name.canonicalName
            return nominee.value.map { "\(name): \(Redaction.standard.value($0, ofField: name))" } ?? "no \(name)"
        }
    }
}

/// A stored response with its fields and its freshness.
struct CacheDetails: Encodable, Sendable {
    let entry: CacheRow
    let fields: [[String]]
    let freshness: String

    init(_ entry: StoredEntry, _ head: StoredHead, now: Date, _ rules: CachingRules) {
        self.entry = CacheRow(entry)
        fields = head.headerFields.map { field in
            [field.name.rawName, Redaction.standard.value(field.value, ofField: field.name.rawName)]
        }
        freshness = Interceptor.CacheExplanation.freshness(of: head, now: now, rules)
    }
}

/// A module and its installed packs, as the inspector lists them.
struct ModuleRow: Encodable, Sendable {
    struct Version: Encodable, Sendable {
        let version: String
        let installed: Date
        let isActive: Bool
        let isPrevious: Bool
        /// Confirmed, on trial, or bad; in words.
        let health: String
        let isDamaged: Bool
    }

    let module: String
    let isServing: Bool
    let isEnabledByApp: Bool
    let isEnabledByServer: Bool
    let minimumVersion: String?
    let versions: [Version]
    /// Whether a roll-back changes something.
    let canRollBack: Bool

    init(_ module: InstalledModule) {
        self.module = module.module.description
        isServing = module.isServing
        isEnabledByApp = module.isEnabledByApp
        isEnabledByServer = module.isEnabledByServer
        minimumVersion = module.minimumVersion?.description
        canRollBack = module.active != nil
        versions = module.versions.map { pack in
            Version(
                version: pack.version.description,
                installed: pack.installed,
                isActive: pack == module.active,
                isPrevious: pack == module.previous,
                health: Self.words(pack.health),
                isDamaged: pack.isDamaged
            )
        }
    }

    private static func words(_ health: PackHealth) -> String {
        switch health {
        case .confirmed: "confirmed"
        case .trial(let since): "on trial since \(since.formatted(.iso8601))"
        case .bad(let reason, let since): "bad since \(since.formatted(.iso8601)): \(reason)"
        }
    }
}

/// The files of an installed version.
struct PackContents: Encodable, Sendable {
    static let limit = 2_000

    struct File: Encodable, Sendable {
        let path: String
        let bytes: Int
        let type: String?
    }

    let baseURLs: [String]
    let count: Int
    /// The first files.
    let files: [File]

    /// Reads the manifest that is stored beside the files.
    init(_ pack: InstalledPack) throws {
        let file = pack.root.deletingLastPathComponent().appending(path: "manifest.json")
        let manifest = try PackManifest(json: Data(readingFile: file, limit: PackManifest.maximumSize))
        baseURLs = manifest.baseURLs
        count = manifest.files.count
        files = manifest.files.prefix(Self.limit).map { File(path: $0.path, bytes: $0.size, type: $0.mediaType) }
    }
}
#endif
