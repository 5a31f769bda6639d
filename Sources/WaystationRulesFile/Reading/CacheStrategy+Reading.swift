import Waystation

extension CacheStrategy {
    /// The names of the strategies, as Workbox and the RFCs have them.
    static let names = [
        "standard", "revalidate", "cache-first", "network-first", "stale-while-revalidate", "cache-only",
        "network-only",
    ]

    /// Reads a strategy and its bounds.
    ///
    /// It is nil if the strategy is missing or has a mistake, which the reader's list then holds.
    ///
    /// - Parameters:
    ///   - reader: The table of the rules file that holds the strategy and its bounds.
    ///   - key: The key of the strategy's name.
    ///   - owner: The thing in the file that needs the strategy, for messages.
    init?(_ reader: inout TableReader, named key: String, requiredBy owner: String) {
        reader.require(key, "\(owner) needs it, such as `\(key) = \"network-first\"`")
        let name = reader.word(key, of: Self.names)
        let limit = reader.duration("maximum-age")
        let timeout = reader.duration("timeout")
        let method = reader.word("validate-by", of: ["get", "head"])
        guard let name else { return nil }
        reader.refuse("maximum-age", unless: ["cache-first", "stale-while-revalidate"], name)
        reader.refuse("timeout", unless: ["network-first"], name)
        reader.refuse("validate-by", unless: ["revalidate"], name)
        switch name {
        case "cache-first", "stale-while-revalidate":
            reader.require("maximum-age", "the strategy \"\(name)\" needs it, such as `maximum-age = \"7d\"`")
            guard let limit else { return nil }
            self = name == "cache-first" ? .cacheFirst(for: limit) : .staleWhileRevalidate(upTo: limit)
        case "revalidate": self = .revalidate(by: method == "head" ? .head : .get)
        case "network-first": self = .networkFirst(timeout: timeout)
        case "cache-only": self = .cacheOnly
        case "network-only": self = .networkOnly
        default: self = .standard
        }
    }
}

extension TableReader {
    /// Adds a mistake if the table has a key that its strategy does not use.
    fileprivate func refuse(_ key: String, unless strategies: [String], _ strategy: String) {
        guard !strategies.contains(strategy), let entry = table.entry(key) else { return }
        let users = Words.list(strategies.map { "\"\($0)\"" }, "and")
        faults.add(entry.key.range, "`\(key)` has no effect with the strategy \"\(strategy)\": it belongs to \(users)")
    }
}
