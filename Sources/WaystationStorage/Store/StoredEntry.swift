public import Foundation
import HTTPTypes
public import WaystationHTTP

/// The index data of one response, without its header fields and its body.
public struct StoredEntry: Sendable {
    /// The bytes of a representation that a stored part of it has (RFC 9110 §14.4).
    public struct Part: Hashable, Sendable, CustomStringConvertible {
        /// The places of the bytes in the representation.
        public let bytes: Range<Int>
        /// The length of the representation in bytes; nil if the server has not stated it.
        public let total: Int?

        /// The part in words, such as `bytes 0-999 of 5000`.
        public var description: String {
            "bytes \(bytes.lowerBound)-\(bytes.upperBound - 1) of \(total.map(String.init) ?? "an unknown number")"
        }
    }

    /// The identifier of the response in its store.
    public let id: Int64

    /// The key of the request that the response answers.
    public let key: RequestKey

    /// The request fields that selected the response.
    public let vary: VaryKey

    /// The status code.
    public let status: Int

    /// When the request was sent.
    public let requestTime: Date

    /// When the response arrived or was last freshened.
    public let responseTime: Date

    /// When the response was last used; the store writes this only now and then.
    public let lastUsed: Date

    /// The number of bytes in the body.
    public let bodyLength: Int

    /// The bytes that the response counts towards the size of the store: body, fields and URL.
    ///
    /// A body that several responses share counts once for the store.
    public let size: Int

    /// The bytes that the response has, if it is a part (206); nil for every other response.
    public let part: Part?

    /// The body's path below `bodies/`; `nil` for a body in the index.
    public let bodyFile: String?

    /// The tags and groups by which the response is purged together with others.
    public let labels: Set<ResponseLabel>

    /// The request fields that selected the response, without the `Range` of a part.
    package var selectingFields: VaryKey {
        part == nil ? vary : VaryKey(vary.nominees.filter { $0.name != .range })
    }

    /// The names that the app has given to the response, sorted.
    public var tags: [String] {
        labels.compactMap { if case .tag(let name) = $0 { name } else { nil } }.sorted()
    }

    /// The groups that the origin has put the response into (RFC 9875 §2), sorted.
    public var groups: [String] {
        labels.compactMap { if case .group(let name, _) = $0 { name } else { nil } }.sorted()
    }
}

/// The contents and counters of a store, at one moment.
public struct StoreStatistics: Hashable, Sendable {
    /// Responses on disk, including those of other processes.
    public internal(set) var entries = 0
    /// Bytes of those responses: bodies, fields and URLs; a body file that several responses share counts once.
    public internal(set) var bytes = 0
    /// The size of the directory on disk, in bytes: its files in blocks of 4,096 bytes, and its directories.
    ///
    /// The size of body files is that of the index.
    public internal(set) var diskBytes = 0
    /// Responses in memory.
    public internal(set) var residentEntries = 0
    /// Approximate memory that they take, in bytes.
    public internal(set) var residentBytes = 0
    /// Look-ups answered from memory, since this object was made.
    public internal(set) var memoryHits = 0
    /// Look-ups answered from disk, since this object was made.
    public internal(set) var diskHits = 0
    /// Look-ups that found nothing, including those given up, since this object was made.
    public internal(set) var misses = 0
    /// Responses committed through this object.
    public internal(set) var stored = 0
    /// Whether the store could be opened; when it could not, look-ups miss and writes are dropped.
    public internal(set) var isAvailable = false
}

/// The result of a check of a whole store.
public struct StoreVerification: Sendable {
    /// A response that differs from what was stored.
    public struct Damage: Sendable {
        /// The identifier of the response in its store.
        public let id: Int64
        /// The key of the response, if it can be read.
        public let key: RequestKey?
        /// The problem, as text.
        public let problem: String
    }

    /// How many responses were checked.
    public internal(set) var entries = 0
    /// How many body files were read.
    public internal(set) var bodyFiles = 0
    /// How many body files exist that no response uses.
    ///
    /// They are left-overs of a kill, which the next opening removes; they are not damage.
    public internal(set) var unnamedFiles = 0
    /// The responses that are damaged, in the order of their URLs.
    public internal(set) var damaged: [Damage] = []
    /// The problems of the index itself.
    public internal(set) var indexProblems: [String] = []

    /// Whether neither the responses nor the index have problems.
    public var isIntact: Bool { damaged.isEmpty && indexProblems.isEmpty }
}

/// The responses that a listing, a purge or an invalidation applies to, selected by their keys or by a label.
///
/// ```swift
/// try await store.remove(.host("shop.example", partition: ""))
/// ```
public struct ResponseScope: Hashable, Sendable {
    enum URLs: Hashable, Sendable {
        case all
        case one(String)
        /// URLs that begin with one of these strings, compared byte for byte.
        case prefixes([String])
    }

    var urls = URLs.all
    /// `nil` for all partitions.
    var partition: String?
    /// The prefix of the partitions' names.
    var partitionPrefix = ""
    /// The label of the responses; `nil` if their keys alone decide.
    package private(set) var label: ResponseLabel?

    /// Every response.
    public static let all = ResponseScope()

    /// All methods and variants of a canonical URL, in one partition or in all partitions.
    ///
    /// They include the responses whose keys have more than the URL, and those that may answer a request for the URL
    /// although they were loaded with another query (`No-Vary-Search`): of these, all of the same path.
    public static func url(_ url: String, partition: String? = nil) -> ResponseScope {
        ResponseScope(urls: .one(url), partition: partition)
    }

    /// All URLs that begin with a prefix, compared byte for byte.
    ///
    /// If the prefix has a part of a query, they include all responses of its path that may answer requests with other
    /// queries (`No-Vary-Search`).
    public static func prefix(_ prefix: String, partition: String? = nil) -> ResponseScope {
        let searched = prefix.contains("?") ? [RequestKey.searchPrefix(of: prefix)] : []
        return ResponseScope(urls: .prefixes([prefix] + searched), partition: partition)
    }

    /// All URLs of a host, on any port, for http and https; the host's subdomains are not included.
    ///
    /// The name has no port: a name with one, such as `shop.example:8443`, selects nothing.
    public static func host(_ host: String, partition: String? = nil) -> ResponseScope {
        let name = host.lowercased()
        let authority = name.contains(":") && !name.hasPrefix("[") ? "[\(name)]" : name
        let origins = ["http://\(authority)", "https://\(authority)"]
        return ResponseScope(
            urls: .prefixes(origins.flatMap { ["\($0)/", "\($0):", "\($0)?"] }),
            partition: partition
        )
    }

    /// All URLs of an origin as a ``WaystationHTTP/CanonicalURL`` has it, such as `https://shop.example`.
    package static func origin(_ origin: String) -> ResponseScope {
        ResponseScope(urls: .prefixes(["\(origin)/", "\(origin)?"]))
    }

    /// All responses of one partition.
    public static func partition(_ partition: String) -> ResponseScope { ResponseScope(partition: partition) }

    /// All partitions whose names begin with a prefix, compared byte for byte.
    public static func partitions(prefix: String) -> ResponseScope { ResponseScope(partitionPrefix: prefix) }

    /// All responses with a tag of the app's, in all partitions.
    public static func tag(_ tag: String) -> ResponseScope { .label(.tag(tag)) }

    /// All responses of a group (RFC 9875 §2.1), in all partitions.
    ///
    /// - Parameters:
    ///   - name: The name of the group.
    ///   - origin: The group's origin as a ``WaystationHTTP/CanonicalURL`` has it, such as `https://shop.example`.
    /// - Returns: The scope.
    public static func group(_ name: String, of origin: String) -> ResponseScope {
        .label(.group(name, origin: origin))
    }

    /// All responses with a label, in all partitions.
    package static func label(_ label: ResponseLabel) -> ResponseScope {
        var scope = if case .group(_, let origin) = label { ResponseScope.origin(origin) } else { ResponseScope.all }
        scope.label = label
        return scope
    }

    /// Whether the scope contains a response.
    package func contains(_ head: StoredHead) -> Bool {
        contains(head.key) && label.map(head.labels.contains) ?? true
    }

    /// Whether the scope contains a key; for a tag or a group, whether it may contain a response of the key.
    public func contains(_ key: RequestKey) -> Bool {
        guard partition == nil || partition == key.partition,
            key.partition.utf8.starts(with: partitionPrefix.utf8)
        else { return false }
        switch urls {
        case .all: return true
        case .one(let url):
            guard key.url.utf8.starts(with: url.utf8) else {
                // Most keys have no fragment.
                return key.url.utf8.contains(UInt8(ascii: "#"))
                    && key.url.utf8.starts(with: RequestKey.searchPrefix(of: url).utf8)
            }
            return key.url.utf8.count == url.utf8.count
                || key.url.utf8.dropFirst(url.utf8.count).first == UInt8(ascii: "#")
        case .prefixes(let prefixes): return prefixes.contains { key.url.utf8.starts(with: $0.utf8) }
        }
    }
}
