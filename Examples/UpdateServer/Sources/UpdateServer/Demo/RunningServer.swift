import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import Synchronization

/// A server on a free port of loopback, which runs until it is stopped.
final class RunningServer: Sendable {
    /// The server's address.
    let url: URL
    private let group: ServiceGroup
    private let running: Task<Void, any Error>

    init(_ server: UpdateServer) async throws {
        let (ports, port) = AsyncStream.makeStream(of: Int.self)
        let application = try await server.application { port.yield($0) }
        let group = ServiceGroup(services: [application], logger: application.logger)
        self.group = group
        let running = Task {
            // If the server cannot start, the wait for its port must end.
            defer { port.finish() }
            try await group.run()
        }
        self.running = running
        guard let number = await ports.first(where: { _ in true }), let url = URL(string: "http://127.0.0.1:\(number)/")
        else {
            try await running.value
            throw PacksDemo.Unexpected(description: "the server did not start")
        }
        self.url = url
    }

    func stop() async {
        await group.triggerGracefulShutdown()
        _ = try? await running.value
    }
}
