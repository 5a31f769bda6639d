public import Foundation
public import WaystationCaching
public import WaystationStorage

/// How a recording is brought into a cache.
public struct ImportOptions: Sendable {
    /// When an imported response counts as received.
    public enum Time: Hashable, Sendable {
        /// When it was recorded: what was stale then is stale, and what is older than the cache keeps is left out.
        case recorded
        /// Now, as if the origin had just answered: `Date` and `Expires` move along, `Age` goes.
        case now
    }

    /// When responses count as received; `.recorded` by default.
    public var time = Time.recorded
    /// Whether responses are stored that say `no-store`; false by default.
    ///
    /// They are stored as if they said `no-cache`.
    public var includesNoStore = false
    /// Whether responses that were chosen by request fields (`Vary`) answer every request; false by default.
    ///
    /// A browser sends other fields than an app. `Accept-Encoding` never counts: bodies are stored without coding.
    public var ignoresVary = false
    /// The largest HAR file; 512 MiB by default.
    public var maximumHARSize = ByteCount.mebibytes(512)
    /// How much of one WARC record is taken into memory.
    public var warc = WARCReader.Limits()
    /// The choices of RFC 9111.
    public var cachingRules = CachingRules()
    /// The clock.
    public var now: @Sendable () -> Date = { Date() }

    /// The options above.
    public init() {}
}
