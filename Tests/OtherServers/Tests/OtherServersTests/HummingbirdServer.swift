import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import HummingbirdHTTP2
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL

/// A Hummingbird application on loopback.
enum HummingbirdServer {
    /// The protocols that the application speaks.
    enum Way: CaseIterable {
        case plain, tls
        /// HTTP/2, which the TLS handshake chooses.
        case http2
        /// HTTP/2 without TLS, which the client knows beforehand.
        case priorKnowledge

        var isSecure: Bool { self == .tls || self == .http2 }
        var version: String { self == .http2 || self == .priorKnowledge ? "2" : "1" }
    }

    struct Failure: Error {}

    /// The bytes that `/stream` sends, in a hundred parts.
    static let streamed = Data((0..<2_000_000).map { UInt8($0 % 251) })

    /// Runs `body` with the application's address, such as `https://localhost:43210`, and stops the application after
    /// it.
    static func run(_ way: Way, _ body: @escaping @Sendable (_ address: String) async throws -> Void) async throws {
        let (ports, started) = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "application")
        logger.logLevel = .critical
        let application = Application(
            router: router(),
            server: try builder(way),
            configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                if let port = channel.localAddress?.port { started.yield(port) }
                started.finish()
            },
            logger: logger
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                defer { started.finish() }
                try await application.runService(gracefulShutdownSignals: [])
            }
            guard let port = await ports.first(where: { _ in true }) else {
                try await group.waitForAll()
                throw Failure()
            }
            let address = "\(way.isSecure ? "https" : "http")://localhost:\(port)"
            let result = await Task { try await body(address) }.result
            group.cancelAll()
            // The application ends by its cancellation.
            try? await group.waitForAll()
            try result.get()
        }
    }

    private static func builder(_ way: Way) throws -> HTTPServerBuilder {
        switch way {
        case .plain: .http1()
        case .tls: try .tls(.http1(), tlsConfiguration: Certificate.shared.get().configuration())
        case .http2: try .http2Upgrade(tlsConfiguration: Certificate.shared.get().configuration())
        case .priorKnowledge: .plaintextHTTP2()
        }
    }

    /// The connection of a request, as its handler gets it.
    struct Context: RequestContext {
        var coreContext: CoreRequestContextStorage
        let version: String

        init(source: Source) {
            coreContext = CoreRequestContextStorage(source: source)
            // The channel of an HTTP/2 stream has a parent, the connection, whose parent is the listening channel.
            version = source.channel.parent?.parent == nil ? "1" : "2"
        }
    }

    private static func router() -> Router<Context> {
        let router = Router(context: Context.self)
        router.get("stream") { _, context in
            response(context) { writer in
                for start in stride(from: 0, to: streamed.count, by: 20_000) {
                    try await writer.write(ByteBuffer(bytes: streamed[start..<start + 20_000]))
                }
                try await writer.finish(nil)
            }
        }
        router.get("trailers") { _, context in
            response(context) { writer in
                try await writer.write(ByteBuffer(string: "hello"))
                try await writer.finish([.eTag: "\"1\""])
            }
        }
        router.get("early") { _, context in
            response(context) { writer in
                try await writer.write(ByteBuffer(string: "hello"))
                throw Failure()
            }
        }
        // Parts are sent back while others still arrive.
        router.post("echo") { request, context in
            let body = request.body
            return response(context) { writer in
                for try await part in body { try await writer.write(part) }
                try await writer.finish(nil)
            }
        }
        router.post("refuse") { _, context in
            Response(status: .contentTooLarge, headers: headers(context), body: .init(byteBuffer: .init(string: "no")))
        }
        return router
    }

    private static func response(
        _ context: Context,
        write: @escaping @Sendable (inout any ResponseBodyWriter) async throws -> Void
    ) -> Response {
        Response(status: .ok, headers: headers(context), body: ResponseBody(write))
    }

    private static func headers(_ context: Context) -> HTTPFields {
        guard let name = HTTPField.Name("X-Version") else { return [:] }
        return [name: context.version]
    }
}
