/// Something that happened inside a store, for logs and metrics.
///
/// More kinds may come.
public struct StoreEvent: Sendable, CustomStringConvertible {
    /// What sort of thing happened.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, such as `evicted`: short and stable, fit for a metric's label.
        public let description: String

        /// A response was committed.
        public static let stored = Kind(description: "stored")
        /// Responses were removed because the store was over its size.
        public static let evicted = Kind(description: "evicted")
        /// Responses were removed because they were older than the store keeps any.
        public static let expired = Kind(description: "expired")
        /// Something on disk was not what had been written; it was dropped or moved aside.
        public static let damaged = Kind(description: "damaged")
        /// The store, or one operation of it, did not work; look-ups miss and writes are dropped meanwhile.
        public static let unavailable = Kind(description: "unavailable")
        /// The store works again.
        public static let recovered = Kind(description: "recovered")
        /// The disk is full; writes are suspended for a while.
        public static let full = Kind(description: "full")
        /// A body was larger than the store keeps.
        public static let tooLarge = Kind(description: "tooLarge")
        /// A body did not have the length that was announced for it and was not stored.
        public static let truncated = Kind(description: "truncated")
        /// Left-overs of processes that ended in the middle of a write were removed.
        public static let swept = Kind(description: "swept")
    }

    /// What sort of thing happened.
    public let kind: Kind

    /// The response concerned, when it is one.
    public let key: RequestKey?

    /// How many responses or files it concerns.
    public let count: Int

    /// How many bytes it concerns; zero when none are known.
    public let bytes: Int

    /// What happened and what the store did about it, in words.
    public let detail: String

    init(_ kind: Kind, key: RequestKey? = nil, count: Int = 1, bytes: Int = 0, detail: String) {
        self.kind = kind
        self.key = key
        self.count = count
        self.bytes = bytes
        self.detail = detail
    }

    /// The kind, the request concerned, and the detail, on one line.
    public var description: String {
        let request = key.map { " \($0.method) \($0.url)" } ?? ""
        return "\(kind)\(request): \(detail)"
    }
}
