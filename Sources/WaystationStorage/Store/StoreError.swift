public import WaystationHTTP

/// Why an operation of a store did not work.
public struct StoreError: CodedError {
    /// The sort of failure.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// The code's name: short and stable.
        public let description: String

        /// Bytes on disk differ from those that were stored.
        public static let damaged = Code(description: "damaged")
        /// The store cannot be opened, or another process held it for too long.
        public static let unavailable = Code(description: "unavailable")
        /// The disk is full.
        public static let full = Code(description: "full")
        /// The body is larger than the store accepts, or than the space beside other bodies that are being written.
        public static let tooLarge = Code(description: "tooLarge")
        /// The body did not have the length that was announced.
        public static let truncated = Code(description: "truncated")
        /// The writer was abandoned before its commit.
        public static let abandoned = Code(description: "abandoned")
        /// The response was invalidated while it was on its way.
        public static let invalidated = Code(description: "invalidated")
        /// The directory does not contain a store.
        public static let notAStore = Code(description: "notAStore")
        /// The directory cannot hold a store: it cannot be made, it or something in it is a link, or another user owns
        /// it or may write to it.
        public static let unusableDirectory = Code(description: "unusableDirectory")
        /// The store was written by a later version.
        public static let newerVersion = Code(description: "newerVersion")
    }

    /// The sort of failure.
    public let code: Code

    /// The problem, its place, and what can be done.
    public let message: String

    /// The underlying error, if there was one.
    public let cause: (any Error)?

    package init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message.shown(upTo: 2_000)
        self.cause = cause
    }
}

/// Something that happened inside a store, for logs and metrics.
///
/// Later versions may add kinds.
public struct StoreEvent: Sendable, CustomStringConvertible {
    /// The sort of event.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, such as `evicted`: short and stable, fit for a metric's label.
        public let description: String

        /// A response was committed.
        public static let stored = Kind(description: "stored")
        /// Responses were removed because the store was over its size.
        public static let evicted = Kind(description: "evicted")
        /// Responses were removed because they were older than ``StoreLimits/maximumAge``.
        public static let expired = Kind(description: "expired")
        /// Something on disk differed from what had been written; it was dropped or moved aside.
        public static let damaged = Kind(description: "damaged")
        /// The store, or one operation of it, did not work; until it works again, look-ups miss and writes are dropped.
        public static let unavailable = Kind(description: "unavailable")
        /// The store works again.
        public static let recovered = Kind(description: "recovered")
        /// The disk is full; writes are paused for a while.
        public static let full = Kind(description: "full")
        /// A body was larger than the store accepts, or than the space beside other bodies that are being written.
        public static let tooLarge = Kind(description: "tooLarge")
        /// A body did not have the length that was announced for it and was not stored.
        public static let truncated = Kind(description: "truncated")
        /// Left-overs of processes that ended during a write were removed.
        public static let swept = Kind(description: "swept")
    }

    /// The sort of event.
    public let kind: Kind

    /// The key of the response concerned; `nil` when the event does not concern a single response.
    public let key: RequestKey?

    /// How many responses or files the event concerns.
    public let count: Int

    /// How many bytes the event concerns; zero when the number is unknown.
    public let bytes: Int

    /// The event and the store's reaction to it, as text.
    public let detail: String

    init(_ kind: Kind, key: RequestKey? = nil, count: Int = 1, bytes: Int = 0, detail: String) {
        self.kind = kind
        self.key = key
        self.count = count
        self.bytes = bytes
        self.detail = detail.shown(upTo: 2_000)
    }

    /// The kind, the request concerned, and the detail, on one line, in which the URL has no secrets.
    public var description: String {
        let request =
            key.map { " \($0.method.shown()) \(SecretNames.standard.url($0.url).shown(upTo: 2_000))" } ?? ""
        return "\(kind)\(request): \(detail)"
    }
}
