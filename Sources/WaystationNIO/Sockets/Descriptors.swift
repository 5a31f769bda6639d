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

/// The last descriptors that the process can have, which connections leave to its other parts while they can.
///
/// A cache needs descriptors for its files. Dispatch opens a file of the system while its threads are busy, and ends the
/// process if it cannot.
enum DescriptorReserve {
    /// Whether a descriptor is one of the last; the system always gives the lowest free number.
    static func contains(_ descriptor: CInt) -> Bool {
        var limit = rlimit()
        #if canImport(Glibc)
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return false }
        #else
        guard getrlimit(RLIMIT_NOFILE, &limit) == 0 else { return false }
        #endif
        return contains(descriptor, of: limit.rlim_cur)
    }

    /// Whether a descriptor is one of the last if the process may have `limit` of them: an eighth, and 64 at most.
    static func contains(_ descriptor: CInt, of limit: rlim_t) -> Bool {
        UInt64(max(0, descriptor)) >= UInt64(limit) - min(64, UInt64(limit) / 8)
    }

    /// Throws the error of a process without descriptors if the socket of a channel is one of the last.
    static func spare(_ channel: any Channel, _ isReserved: (CInt) -> Bool) throws {
        let descriptor = try channel.pipeline.syncOperations.withUnsafeTransportIfAvailable(
            of: NIOBSDSocket.Handle.self
        ) { $0 }
        guard let descriptor, isReserved(descriptor) else { return }
        throw IOError(errnoCode: EMFILE, reason: "socket")
    }
}
#endif
