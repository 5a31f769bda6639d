#if Gateway
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The bytes of a connection that were written and that the other side's system has not acknowledged.
enum SendQueue {
    /// The number of these bytes; 0 if the system does not know it, such as for a closed connection.
    static func length(of channel: any Channel) -> Int {
        let buffered = (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0
        var queued: CInt = 0
        let isKnown = try? channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { socket in
            // SIOCOUTQ of Linux has this name for terminals (tcp(7)).
            ioctl(socket, UInt(TIOCOUTQ), &queued) == 0
        }
        return buffered + (isKnown == true ? Int(queued) : 0)
    }
}
#endif
