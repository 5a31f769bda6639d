package import Dispatch

/// How much a store keeps, for how long, and where: in the index, in files or in memory.
public struct StoreLimits: Sendable {
    /// The size of the directory on disk: responses, index, and all other files.
    ///
    /// Default: 256 MiB.
    ///
    /// The directory has at most this size a minute after the last write, and after the process has ended by `exit`.
    /// While responses are written it has at most a quarter more and 4 MiB. Each process makes room before it writes:
    /// eviction begins at this size and continues down to ``lowWaterMark`` of it, least recently used responses first.
    /// A body that finds no room beside other bodies that are being written is not stored, and an event
    /// ``StoreEvent/Kind/tooLarge`` reports it.
    ///
    /// An empty store takes about 200 KiB. Below 1 MiB, the size limits the bytes of all responses together (bodies,
    /// fields and URLs), and the directory takes up to 1 MiB.
    ///
    /// Uses are written to the disk about a minute after the first of them, so they count for all processes that
    /// use the store.
    public var maximumSize: ByteCount

    /// How long a response is kept after its response time.
    ///
    /// Default: 30 days. Older responses are never returned, and are removed within a minute, even while the store is
    /// idle. `.seconds(Int32.max)` and more keep responses for ever.
    public var maximumAge: Duration

    /// Whether responses can become too old.
    var hasMaximumAge: Bool { maximumAge < .seconds(Int32.max) }

    /// The largest body that is stored at all.
    ///
    /// Default: 32 MiB. A body whose length was not announced is dropped as soon as it exceeds this.
    public var maximumEntrySize: ByteCount

    /// Bodies up to this size are kept in the index, larger ones in files.
    ///
    /// Default: 64 KiB. It is at most 64 KiB or a 32nd of ``maximumSize``, if that is more. For parts (206) the limit is at most 4 KiB,
    /// since a look-up reads all rows of its key. Equal bodies in files are kept once and count once, even for different URLs.
    public var inlineBodyLimit: ByteCount

    /// The memory for responses that are kept after a look-up.
    ///
    /// Default: 32 MiB; zero keeps none. In addition, the heads of the responses that were read last take at
    /// most 4 MiB.
    public var residentLimit: ByteCount

    /// The largest number of variants kept for one key; when it is exceeded, the oldest variant is removed.
    ///
    /// Default: 16.
    public var maximumVariants: Int

    /// The fraction of ``maximumSize`` that eviction leaves: 0.8.
    public static let lowWaterMark = 0.8

    /// Limits that are never reached, for tools that must not evict what an app keeps.
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

/// A number of bytes, never negative.
///
/// ```swift
/// limits.maximumSize = .mebibytes(200)
/// ```
///
/// Results that are too large are clamped to `Int.max`, negative ones to zero: a limit read from a configuration file
/// never traps.
public struct ByteCount: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number of bytes.
    public let bytes: Int

    private init(_ count: Int, times unit: Int) {
        let product = max(0, count).multipliedReportingOverflow(by: unit)
        bytes = product.overflow ? .max : product.partialValue
    }

    /// A number of single bytes.
    public static func bytes(_ count: Int) -> ByteCount { ByteCount(count, times: 1) }

    /// Multiples of 1,024 bytes.
    public static func kibibytes(_ count: Int) -> ByteCount { ByteCount(count, times: 1 << 10) }

    /// Multiples of 1,024² bytes.
    public static func mebibytes(_ count: Int) -> ByteCount { ByteCount(count, times: 1 << 20) }

    /// Multiples of 1,024³ bytes.
    public static func gibibytes(_ count: Int) -> ByteCount { ByteCount(count, times: 1 << 30) }

    /// Multiples of 1,000 bytes.
    public static func kilobytes(_ count: Int) -> ByteCount { ByteCount(count, times: 1_000) }

    /// Multiples of 1,000² bytes.
    public static func megabytes(_ count: Int) -> ByteCount { ByteCount(count, times: 1_000_000) }

    /// Multiples of 1,000³ bytes.
    public static func gigabytes(_ count: Int) -> ByteCount { ByteCount(count, times: 1_000_000_000) }

    /// Whether the left count is smaller than the right one.
    public static func < (left: ByteCount, right: ByteCount) -> Bool { left.bytes < right.bytes }

    /// The count as text, such as `65536 bytes`.
    public var description: String { "\(bytes) bytes" }
}

/// The services that a store uses; tests inject faults here.
package struct StoreEnvironment: Sendable {
    /// The file system that holds body files, directories and locks.
    package var fileSystem: any FileSystem = LocalFileSystem()

    /// How long a write waits for another process's write before it is dropped, in seconds.
    package var busyTimeout: Double = 5

    /// How long a write that needs an empty log waits for processes that read or empty it before it is dropped, in
    /// seconds; they may be kept from the processor for a while.
    package var logTimeout: Double = 5

    /// How long small writes are gathered after one was written, in seconds.
    package var writeInterval: Double = 0.02

    /// The interval of the check for look-ups that the disk has not answered, in seconds: a look-up is given up after
    /// one to two intervals.
    package var lookUpInterval: Double = 10

    /// Runs an action on the given queue of the store (or anywhere) after a delay in seconds.
    package var afterDelay: @Sendable (DispatchQueue, Double, @escaping @Sendable () -> Void) -> Void = {
        $0.asyncAfter(deadline: .now() + $1, execute: $2)
    }

    /// Runs on the writing connection after it was opened.
    package var prepareConnection: @Sendable (Database) throws -> Void = { _ in }

    /// Makes the environment of a real store.
    package init() {}
}
