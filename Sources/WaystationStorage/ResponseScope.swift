public import WaystationCaching

/// The responses that a listing, a purge or an invalidation applies to, selected by their keys alone.
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

    /// Every response.
    public static let all = ResponseScope()

    /// All methods and variants of a canonical URL, in one partition or in all partitions.
    public static func url(_ url: String, partition: String? = nil) -> ResponseScope {
        ResponseScope(urls: .one(url), partition: partition)
    }

    /// All URLs that begin with a prefix, compared byte for byte.
    public static func prefix(_ prefix: String, partition: String? = nil) -> ResponseScope {
        ResponseScope(urls: .prefixes([prefix]), partition: partition)
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

    /// All responses of one partition.
    public static func partition(_ partition: String) -> ResponseScope { ResponseScope(partition: partition) }

    /// All partitions whose names begin with a prefix, compared byte for byte.
    public static func partitions(prefix: String) -> ResponseScope { ResponseScope(partitionPrefix: prefix) }

    /// Whether the scope contains a key.
    public func contains(_ key: RequestKey) -> Bool {
        guard partition == nil || partition == key.partition,
            key.partition.utf8.starts(with: partitionPrefix.utf8)
        else { return false }
        switch urls {
        case .all: return true
        case .one(let url): return url == key.url
        case .prefixes(let prefixes): return prefixes.contains { key.url.utf8.starts(with: $0.utf8) }
        }
    }
}
