#if Redis
/// How often the servers of a tier have redirected it or changed, since the tier was made.
package struct RedisCounts: Hashable, Sendable {
    /// The commands that were sent to another server because their slot had moved.
    package var moved = 0
    /// The commands that were sent to another server because their slot was being moved.
    package var asked = 0
    /// The times that the slots of the cluster were read.
    package var topologies = 0
    /// The times that the sentinels named another primary than before.
    package var failovers = 0
}
#endif
