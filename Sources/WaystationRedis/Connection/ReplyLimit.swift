#if Redis
import Synchronization

/// The size of the largest reply of a tier: that of the options, or less if no cache expects larger values.
final class ReplyLimit: Sendable {
    private let maximum: Int
    private let expected = Mutex<Int?>(nil)

    init(_ maximum: Int) { self.maximum = maximum }

    /// The number of bytes, for connections that are made from now on.
    var bytes: Int { expected.withLock { min($0 ?? maximum, maximum) } }

    /// Expects values up to a size.
    func expect(_ size: Int) { expected.withLock { $0 = max($0 ?? 0, size) } }
}
#endif
