import Dispatch

/// The requests that are being passed to the network, so that a log-out can wait for those that began before it.
struct Sends {
    /// The group that a request enters before it is passed on, and leaves afterwards.
    private(set) var current = DispatchGroup()

    /// Gives later requests another group, so that they do not keep a log-out waiting.
    ///
    /// - Returns: The group that is empty once all earlier requests have been passed on.
    mutating func end() -> DispatchGroup {
        let earlier = current
        current = DispatchGroup()
        // The log-out of another login waits for these requests too.
        current.enter()
        earlier.notify(queue: .global()) { [current] in current.leave() }
        return earlier
    }
}
