import Measuring
import NIOCore
import NIOPosix

/// The hostile server: for each version a port with hostile responses, and a port with sound ones.
struct Origin {
    let seed: UInt64

    /// Prints the ports, and serves until standard input ends.
    func serve() throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        var ports: [String] = []
        for version in Version.allCases {
            for _ in ["hostile", "sound"] { ports.append(String(try bind(version, group))) }
        }
        say(ports.joined(separator: " "))
        while readLine() != nil {}
    }

    private func bind(_ version: Version, _ group: any EventLoopGroup) throws -> Int {
        let seed = seed
        let channel = try ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    switch version {
                    case .http1: try pipeline.addHandler(HTTP1Server(seed: seed))
                    case .http2: try pipeline.addHandler(HTTP2Server(seed: seed))
                    }
                }
            }
            .bind(host: "127.0.0.1", port: 0).wait()
        return channel.localAddress?.port ?? 0
    }
}
