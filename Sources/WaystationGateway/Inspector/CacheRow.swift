#if Gateway
import Foundation
import HTTPTypes
import Waystation
import WaystationCaching
import WaystationRecording
import WaystationStorage

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

    init(_ entry: StoredEntry) {
        id = entry.id
        method = entry.key.method
        url = Redaction.standard.url(entry.key.url)
        partition = entry.key.partition
        status = entry.status
        arrived = entry.responseTime
        bytes = entry.size
        variant = entry.vary.nominees.map { nominee in
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
#endif
