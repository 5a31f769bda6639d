package import Foundation
package import WaystationFileSystem

/// What a library stands on; tests put faults and their own clock in here.
package struct PackEnvironment: Sendable {
    /// Where all files are.
    package var fileSystem: any FileSystem = LocalFileSystem()
    /// The clock.
    package var now: @Sendable () -> Date = { Date() }

    /// Makes the environment of a real library.
    package init() {}
}
