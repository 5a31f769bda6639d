package import Dispatch

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
