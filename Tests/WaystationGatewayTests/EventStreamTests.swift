#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationTesting

/// A network whose delays and time limits pass at once.
@Suite("A stream of events through a gateway, in virtual time", .timeLimit(.minutes(10)))
struct EventStreamTests {
    /// Loads two events with a silence between them.
    ///
    /// - Returns: The bytes of the body as the gateway sent them, until it closed the connection.
    private func load(accept: String, silence: Duration, via route: Route) async throws -> String {
        let network = ScriptedTransport {
            $1()
        } script: { _ in
            .init([
                .head(200, fields: ["Content-Type": "text/event-stream"]), .part(Data("data: 1\n\n".utf8)),
                .delay(silence), .part(Data("data: 2\n\n".utf8)), .end,
            ])
        }
        let folder = try TemporaryFolder()
        let fixture = try await GatewayFixture {
            $0.tunnelTimeout = .seconds(900)
        } interceptor: {
            $0.rules = [.allow("https://live.example/**", via: route)]
            $0.cache = try ResponseCache(directory: folder.url)
            $0.makeTransport = { _ in network }
        }
        let connection = try RawConnection(fixture.port)
        let host = "live-example.localhost:\(fixture.port)"
        connection.send("GET /events HTTP/1.1\r\nHost: \(host)\r\nAccept: \(accept)\r\nConnection: close\r\n\r\n")
        let answer = String(decoding: await connection.read(), as: UTF8.self)
        let parts = answer.split(separator: "\r\n\r\n", maxSplits: 1)
        #expect(parts.first?.hasPrefix("HTTP/1.1 200 ") == true)
        return parts.count == 2 ? String(parts[1]) : ""
    }

    private static let first = "9\r\ndata: 1\n\n\r\n"
    private static let whole = first + "9\r\ndata: 2\n\n\r\n0\r\n\r\n"

    @Test("outlives the silence of a minute that ends any other load", arguments: [Route.network, .cache(.standard)])
    func silence(route: Route) async throws {
        for silence in [61, 899] {
            let events = try await load(accept: "text/event-stream", silence: .seconds(silence), via: route)
            #expect(events == Self.whole, "\(silence) s")
        }
        #expect(try await load(accept: "*/*", silence: .seconds(59), via: route) == Self.whole)
        #expect(try await load(accept: "*/*", silence: .seconds(61), via: route) == Self.first)
    }

    @Test("ends after a silence as long as the limit of a tunnel", arguments: [Route.network, .cache(.standard)])
    func limit(route: Route) async throws {
        let events = try await load(accept: "text/event-stream", silence: .seconds(901), via: route)
        #expect(events == Self.first)
    }
}
#endif
