#if NIO
package import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The descriptors that child processes of the app inherit.
package enum Inheritance {
    /// Keeps the socket of a channel from the programs that the app starts, such as its browser.
    ///
    /// A program that had a copy would keep the connection open after the app has closed it.
    package static func prevent(of channel: any Channel) throws {
        try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(of: NIOBSDSocket.Handle.self) {
            _ = fcntl($0, F_SETFD, FD_CLOEXEC)
        }
    }
}
#endif
