/// The name of a value or of a channel in a ``SharedTier``.
public struct TierKey: Hashable, Sendable, CustomStringConvertible {
    /// The name: printable ASCII without spaces, at most 200 bytes.
    public let name: String

    /// Makes a key of a name.
    public init(_ name: String) { self.name = name }

    /// The name.
    public var description: String { name }
}
