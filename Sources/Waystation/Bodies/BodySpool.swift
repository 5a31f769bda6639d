public import Foundation
package import WaystationFileSystem
public import WaystationStorage

/// How the body streams of data tasks are stored, so that they can be sent more than once.
///
/// A stream can be read once, but after a redirect with 307 or 308, after a server's request for credentials and after
/// a dropped connection the body must be sent again. So the whole stream is read before any part of it is sent: into
/// memory if the body has at most ``memory`` bytes, otherwise into a file without a name that is deleted with the load.
/// Each exchange then sends the whole body.
///
/// The stream is read on a thread of its own. If the stream reports an error, or delivers no byte for as long as the
/// request's time-out, the load ends with an error and nothing is sent. To send bodies while they are still being
/// written, set ``Interceptor/Configuration/bodySpool`` to nil.
public struct BodySpool: Sendable {
    /// The largest body that is kept in memory; 1 MiB by default.
    public var memory: ByteCount
    /// The directory for larger bodies.
    ///
    /// They are stored in files of mode 0600 whose names are removed at once. The default is the system's directory for
    /// temporary files.
    public var directory: URL
    package var fileSystem: any FileSystem = LocalFileSystem()

    /// Makes a spool.
    public init(
        memory: ByteCount = .mebibytes(1),
        directory: URL = FileManager.default.temporaryDirectory
    ) {
        self.memory = memory
        self.directory = directory
    }
}
