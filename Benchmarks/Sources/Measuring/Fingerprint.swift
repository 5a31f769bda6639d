public import Foundation

/// A running count and hash (FNV-1a, 64 bits) of bytes, to compare bodies without keeping them.
public struct Fingerprint: Sendable, Hashable, CustomStringConvertible {
    /// How many bytes there were.
    public private(set) var count = 0
    private var hash: UInt64 = 0xcbf2_9ce4_8422_2325

    /// Makes the fingerprint of no bytes.
    public init() {}

    /// Makes the fingerprint of bytes.
    public init(_ data: Data) { append(data) }

    /// Adds bytes.
    public mutating func append(_ data: Data) {
        count += data.count
        data.withUnsafeBytes { bytes in
            for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
        }
    }

    /// The count and the hash: `5 bytes a430d84680aabd0b`.
    public var description: String { "\(count) bytes \(String(hash, radix: 16))" }
}
