package import Dispatch
package import GRDB
package import WaystationFileSystem

/// What a store stands on; tests put faults in here.
package struct StoreEnvironment: Sendable {
    /// Where body files, directories and locks are.
    package var fileSystem: any FileSystem = LocalFileSystem()

    /// How long a write waits for another process's, in seconds, before it is dropped.
    package var busyTimeout: Double = 5

    /// For how long small writes are gathered after one was made, in seconds.
    package var writeInterval: Double = 0.02

    /// How often it is looked for look-ups that the disk does not answer, in seconds: they are given up after one to two
    /// of these intervals.
    package var lookUpInterval: Double = 10

    /// Runs something on a queue of the store's (or anywhere) after as many seconds.
    package var afterDelay: @Sendable (DispatchQueue, Double, @escaping @Sendable () -> Void) -> Void = {
        $0.asyncAfter(deadline: .now() + $1, execute: $2)
    }

    /// Runs on the writing connection when it has been opened.
    package var prepareConnection: @Sendable (Database) throws -> Void = { _ in }

    /// Makes the environment of a real store.
    package init() {}
}
