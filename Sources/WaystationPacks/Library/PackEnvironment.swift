package import Foundation
package import WaystationFileSystem

/// The environment of a library; tests inject faults and their own clock here.
package struct PackEnvironment: Sendable {
    /// The file system that holds all files.
    package var fileSystem: any FileSystem = LocalFileSystem()
    /// The clock.
    package var now: @Sendable () -> Date = { Date() }
    /// A monotonic clock that cannot be set; only differences between its values are meaningful.
    package var uptime: @Sendable () -> Duration = { ContinuousClock.now - Self.start }

    private static let start = ContinuousClock.now

    /// Makes the environment of a real library.
    package init() {}
}
