public import Foundation
package import WaystationFileSystem
public import WaystationStorage

/// How the body streams of data tasks are kept, so that they can be sent again.
///
/// A stream can be read once, but a redirect with 307 or 308, a server that asks for credentials and a dropped
/// connection want the body again. So a stream is read whole before anything of it is sent: into memory up to
/// ``memory``, else into a file without a name that goes with the load. Then each exchange gets all of it.
///
/// The stream is read on a thread of its own. An error of the stream is the load's error, and nothing is sent; so is
/// the end of the request's time-out without a byte. Where bodies must leave while they are still being written,
/// set ``Interceptor/Configuration/bodySpool`` to nil.
public struct BodySpool: Sendable {
    /// How much of a body is kept in memory; 1 MiB by default.
    public var memory: ByteCount
    /// Where larger ones are kept, in files of mode 0600 whose names are removed at once; the system's directory for
    /// temporary files by default.
    public var directory: URL
    package var fileSystem: any FileSystem = LocalFileSystem()

    /// A spool.
    public init(
        memory: ByteCount = .mebibytes(1),
        directory: URL = FileManager.default.temporaryDirectory
    ) {
        self.memory = memory
        self.directory = directory
    }
}
