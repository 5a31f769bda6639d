/// What a patch may ask for before it is refused.
public struct PatchLimits: Hashable, Sendable {
    /// The most bytes that a patch may produce; 1 GiB by default.
    ///
    /// A patch of a few bytes can announce any size, and bzip2 can deliver it: this bounds both the disk that is written
    /// and the time that applying takes.
    public var newSize: Int

    /// Limits, each with its default.
    public init(newSize: Int = 1 << 30) {
        self.newSize = newSize
    }
}
