/// The limits beyond which a patch is refused.
public struct PatchLimits: Hashable, Sendable {
    /// The maximum number of bytes that a patch may produce; 1 GiB by default.
    ///
    /// A patch of a few bytes can announce any size, and bzip2 can deliver it. This limits both the disk space and the
    /// time that applying takes.
    public var newSize: Int

    /// Makes limits; each has a default.
    public init(newSize: Int = 1 << 30) {
        self.newSize = newSize
    }
}
