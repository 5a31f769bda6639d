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
