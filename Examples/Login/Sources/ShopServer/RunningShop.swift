public import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// The shop's server on loopback, which runs until it is stopped.
public final class RunningShop: Sendable {
    /// The server did not start.
    public struct NotStarted: Error, CustomStringConvertible {
        /// The reason, with a hint.
        public let description = "the server did not start; is its port in use?"
    }

    /// The server's address, with a slash at the end.
    public let url: URL
    /// The port, on which the shop can be started again.
    public let port: Int
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Starts the server of a shop; returns when it listens.
    ///
    /// - Parameters:
    ///   - shop: The shop's data.
    ///   - port: The port to listen on; 0, the default, takes a free one.
    /// - Throws: ``NotStarted``, or the error that prevented the server from listening.
    public init(_ shop: Shop, port: Int = 0) async throws {
        var logger = Logger(label: "shop")
        logger.logLevel = .critical
        let router = Router()
        router.add(middleware: VisitMiddleware(shop: shop))
        ShopAPI(shop: shop).addRoutes(to: router)
        ShopPages(shop: shop).addRoutes(to: router)
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: port), serverName: "shop"),
            onServerRunning: { started.yield($0.localAddress?.port ?? 0) },
            logger: logger
        )
        let group = ServiceGroup(services: [application], logger: logger)
        let running = Task {
            // If the server cannot start, the wait for its port must end.
            defer { started.finish() }
            try await group.run()
        }
        guard let number = await ports.first(where: { _ in true }), let url = URL(string: "http://127.0.0.1:\(number)/")
        else {
            try await running.value
            throw NotStarted()
        }
        (self.url, self.port, self.group, self.running) = (url, number, group, running)
    }

    deinit { running.cancel() }

    /// Stops the server after it has answered the requests under way.
    public func stop() async {
        await group.triggerGracefulShutdown()
        _ = try? await running.value
    }
}
