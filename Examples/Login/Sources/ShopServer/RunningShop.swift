public import Foundation
import Hummingbird
import Logging
import ServiceLifecycle

/// A shop's server on loopback, until it is stopped.
public final class RunningShop: Sendable {
    /// Why there is no server.
    public struct NotStarted: Error, CustomStringConvertible {
        /// What to look at.
        public let description = "the server did not start; is its port in use?"
    }

    /// Its address, with a slash at the end.
    public let url: URL
    /// The port, at which the shop can be opened again.
    public let port: Int
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    /// Opens a shop; returns when it listens.
    ///
    /// - Parameters:
    ///   - shop: What it knows.
    ///   - port: Where it listens; 0, the default, takes a free one.
    /// - Throws: ``NotStarted``, or what kept it from listening.
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
            // A server that cannot start would else be waited for.
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

    /// Closes it; what is under way is answered first.
    public func stop() async {
        await group.triggerGracefulShutdown()
        _ = try? await running.value
    }
}
