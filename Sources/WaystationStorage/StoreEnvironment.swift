package import GRDB
package import WaystationFileSystem

/// What a store stands on; tests put faults in here.
package struct StoreEnvironment: Sendable {
    /// Where body files, directories and locks are.
    package var fileSystem: any FileSystem = LocalFileSystem()

    /// How long a write waits for another process's, in seconds, before it is dropped.
    package var busyTimeout: Double = 5

    /// Runs on the writing connection when it has been opened.
    package var prepareConnection: @Sendable (Database) throws -> Void = { _ in }

    /// Makes the environment of a real store.
    package init() {}
}
