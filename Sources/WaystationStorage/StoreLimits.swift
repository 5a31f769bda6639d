/// How much a store keeps, for how long, and where.
public struct StoreLimits: Sendable {
    /// Bytes of all responses together (bodies, fields and URLs).
    ///
    /// Default: 256 MiB.
    ///
    /// Eviction begins above this and goes down to ``lowWaterMark`` of it, least recently used first.
    public var maximumSize: ByteCount

    /// How long a response is kept after its response time.
    ///
    /// Default: 30 days. Older ones are never returned, and are removed within a minute, also while nothing else
    /// happens. `.seconds(Int32.max)` and more keep responses for ever.
    public var maximumAge: Duration

    /// Whether responses can become too old.
    var hasMaximumAge: Bool { maximumAge < .seconds(Int32.max) }

    /// The largest body that is stored at all.
    ///
    /// Default: 32 MiB. A body whose length was not announced is given up as soon as it is larger.
    public var maximumEntrySize: ByteCount

    /// Bodies up to this live in the index, larger ones in files.
    ///
    /// Default: 64 KiB. Equal bodies in files are kept once and count once, whatever they were stored for.
    public var inlineBodyLimit: ByteCount

    /// Memory for responses kept at hand after a look-up.
    ///
    /// Default: 32 MiB; zero keeps none.
    public var residentLimit: ByteCount

    /// Variants kept for one key; beyond it the oldest goes.
    ///
    /// Default: 16.
    public var maximumVariants: Int

    /// The part of ``maximumSize`` that eviction leaves: 0.8.
    public static let lowWaterMark = 0.8

    /// Limits that nothing reaches, for tools that must not evict what an app keeps.
    public static let unlimited = StoreLimits(
        maximumSize: .bytes(.max),
        maximumAge: .seconds(Int32.max),
        maximumEntrySize: .bytes(.max),
        maximumVariants: .max
    )

    /// Makes limits; each has a default.
    public init(
        maximumSize: ByteCount = .mebibytes(256),
        maximumAge: Duration = .seconds(30 * 24 * 60 * 60),
        maximumEntrySize: ByteCount = .mebibytes(32),
        inlineBodyLimit: ByteCount = .kibibytes(64),
        residentLimit: ByteCount = .mebibytes(32),
        maximumVariants: Int = 16
    ) {
        self.maximumSize = maximumSize
        self.maximumAge = maximumAge
        self.maximumEntrySize = maximumEntrySize
        self.inlineBodyLimit = inlineBodyLimit
        self.residentLimit = residentLimit
        self.maximumVariants = maximumVariants
    }
}
