package import Foundation
package import WaystationFileSystem

/// What a library stands on; tests put faults and their own clock in here.
package struct PackEnvironment: Sendable {
    /// Where all files are.
    package var fileSystem: any FileSystem = LocalFileSystem()
    /// The clock.
    package var now: @Sendable () -> Date = { Date() }
    /// How long something runs, by a clock that nobody can set; only differences mean something.
    package var uptime: @Sendable () -> Duration = { ContinuousClock.now - Self.start }

    private static let start = ContinuousClock.now

    /// Makes the environment of a real library.
    package init() {}
}
