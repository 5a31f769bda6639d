import WaystationFields

/// A change in how a cache uses its ``SharedTier``, for logs and metrics.
public struct TierEvent: Sendable, CustomStringConvertible {
    /// The sort of event.
    ///
    /// More sorts may be added.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name: short and stable, fit for a metric's label.
        public let description: String

        /// The tier failed or was slow several times: it is left alone for a while, and loads use the origin.
        public static let suspended = Kind(description: "suspended")
        /// The tier answers again, and is used again.
        public static let resumed = Kind(description: "resumed")
        /// The tier returned a value, or delivered a message, that is not this fleet's; it was not used.
        ///
        /// Such a value was removed.
        public static let damaged = Kind(description: "damaged")
        /// Messages of other machines may have been missed: all responses of this machine's own cache were removed.
        public static let missed = Kind(description: "missed")
        /// An invalidation has not reached the tier yet; until it does, this machine does not read from the tier.
        public static let delayed = Kind(description: "delayed")
    }

    /// The sort of event.
    public let kind: Kind

    /// The event and the reaction to it, as text; it contains no URL and no secret.
    public let detail: String

    package init(_ kind: Kind, _ detail: String) {
        self.kind = kind
        self.detail = detail.shown(upTo: 2_000)
    }

    /// Kind and detail on one line.
    public var description: String { "\(kind): \(detail)" }
}
