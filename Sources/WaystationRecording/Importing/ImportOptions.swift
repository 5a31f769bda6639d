public import Foundation
public import WaystationCaching
public import WaystationStorage

/// The choices for importing a recording into a cache.
public struct ImportOptions: Sendable {
    /// The time at which an imported response counts as received.
    public enum Time: Hashable, Sendable {
        /// The time of recording: a response that was stale then is stale now, and one that is older than the cache
        /// keeps is skipped.
        case recorded
        /// Now, as if the origin had just answered: `Date` and `Expires` are moved, and `Age` is removed.
        case now
    }

    /// The time at which responses count as received; `.recorded` by default.
    public var time = Time.recorded
    /// Whether responses with `no-store` are stored; false by default.
    ///
    /// They are stored as if they had `no-cache`.
    public var includesNoStore = false
    /// Whether responses that vary by request fields (`Vary`) answer every request; false by default.
    ///
    /// A browser sends other fields than an app does. `Accept-Encoding` never counts, since bodies are stored without
    /// coding.
    public var ignoresVary = false
    /// The largest HAR file, and the largest file with a body beside it; 512 MiB by default.
    public var maximumHARSize = ByteCount.mebibytes(512)
    /// How much of one WARC record is read into memory.
    public var warc = WARCReader.Limits()
    /// The caching rules (RFC 9111).
    public var cachingRules = CachingRules()
    /// Returns the current time.
    public var now: @Sendable () -> Date = { Date() }

    /// Makes options with the default values.
    public init() {}
}
