/// A tier that needs no one to watch its deadlines, because each of its calls ends by itself at its deadline.
///
/// ``GuardedTier`` calls it without a task and a timer of its own.
package protocol PunctualTier: SharedTier {
    /// Runs the look-ups in the tier, on the thread on which replies arrive.
    ///
    /// So a look-up changes threads only to begin and to end. Code of the app and work that waits for a disk must not run
    /// there.
    var executor: any TaskExecutor { get }

    /// Expects no values above a size, in bytes; of several calls, the largest size counts.
    ///
    /// A larger value is not read. The tier removes it, and returns an empty one in its place.
    func expectValues(upTo size: Int)
}
