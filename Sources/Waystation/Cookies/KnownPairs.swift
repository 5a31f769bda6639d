import DequeModule

/// The pairs of name and value that cookies of the store, or of a storage, have had in this process.
///
/// Foundation writes the `Cookie` field of a task before anybody else sees it, and nothing tells its pairs from those
/// that the app wrote, except that a storage has, or had, them. Kept as hashes, since tokens that have ended should not
/// lie about.
struct KnownPairs {
    private static let limit = 8_192

    private var pairs: Set<Int> = []
    private var order: Deque<Int> = []
    /// Those that a log-out removed.
    private var ended: Set<Int> = []

    /// Notes a pair that is in use, again or for the first time.
    mutating func insert(_ pair: String) {
        let hash = pair.hashValue
        ended.remove(hash)
        guard pairs.insert(hash).inserted else { return }
        order.append(hash)
        guard order.count > Self.limit, let oldest = order.popFirst() else { return }
        pairs.remove(oldest)
        ended.remove(oldest)
    }

    /// Notes that a log-out removed a pair.
    mutating func end(_ pair: String) {
        insert(pair)
        ended.insert(pair.hashValue)
    }

    func contains(_ pair: String) -> Bool { pairs.contains(pair.hashValue) }

    /// Whether a `Cookie` field carries something that a log-out has removed.
    func hasEnded(_ field: String) -> Bool {
        !ended.isEmpty && CookiePairs(field).pairs.contains { ended.contains($0.hashValue) }
    }
}

/// The pairs of a `Cookie` field (RFC 6265 §4.2.1).
struct CookiePairs {
    let pairs: [String]

    init(_ field: String) {
        pairs = field.split(separator: ";").map { $0.trimmingPrefix { $0 == " " || $0 == "\t" } }.map(String.init)
            .filter { !$0.isEmpty }
    }

    /// The name of a pair; none of a bare value.
    static func name(of pair: String) -> Substring {
        pair.utf8.firstIndex(of: UInt8(ascii: "=")).map { pair[..<$0] } ?? ""
    }

    /// The value of the first pair of a name.
    func value(of name: String) -> String? {
        pairs.first { Self.name(of: $0) == name }.map { String($0.dropFirst(name.count + 1)) }
    }
}
