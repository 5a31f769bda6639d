#if NIO
import NIOCore
package import NIOPosix

/// The event loops of servers whose requests are carried on the loop that has got them.
///
/// They are not those of the transports: loads of a server run the app's code on its loops, and an app's load that this
/// code waits for is carried elsewhere.
package enum ServerLoops {
    package static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    private static let identities = Set(group.makeIterator().map { ObjectIdentifier($0) })

    /// The loop of the calling thread; nil if the thread has no loop of the server.
    static var current: (any EventLoop)? {
        MultiThreadedEventLoopGroup.currentEventLoop.flatMap { identities.contains(ObjectIdentifier($0)) ? $0 : nil }
    }
}
#endif
