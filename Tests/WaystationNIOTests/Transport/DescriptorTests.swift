#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import Synchronization
import Testing
import WaystationTestSupport
import Waystation

@testable import WaystationNIO

@Suite("A process that has no descriptor left for a connection", .timeLimit(.minutes(10)))
struct DescriptorTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

    /// Counts the connects.
    private final class Lack: Sendable {
        private let count = Mutex(0)

        var connects: Int { count.withLock { $0 } }

        func next(_ lacks: (Int) -> Bool) -> Bool {
            count.withLock { count in
                defer { count += 1 }
                return lacks(count)
            }
        }
    }

    /// A transport whose connects fail as without a descriptor, if `lacks` says so for their numbers.
    private func transport(
        _ lack: Lack,
        connectTimeout: TimeInterval = 15,
        _ lacks: @escaping @Sendable (Int) -> Bool
    ) -> NIOTransport {
        var parts = EngineParts()
        parts.makeRoutes = { _ in { host, port, _ in .tunnel(Route.Proxy(host: host, port: port)) } }
        parts.openTunnel = { channel, _, proxy, _ in
            guard lack.next(lacks) else { return channel.eventLoop.makeSucceededVoidFuture() }
            let error = IOError(errnoCode: EMFILE, reason: "socket")
            let failure = TransportFailure(connecting: error, host: proxy.host, port: proxy.port)
            return channel.eventLoop.makeFailedFuture(failure)
        }
        var options = NIOOptions()
        options.environment = [:]
        options.connectTimeout = connectTimeout
        return NIOTransport(configuration: .ephemeral, options: options, parts: parts)
    }

    private func origin() throws -> RawOrigin { try RawOrigin { _ in [.request, .send(Self.ok), .again] } }

    @Test("gives up the connection that has been idle for longest, and connects with its descriptor")
    func idle() async throws {
        let (first, second, third) = (try origin(), try origin(), try origin())
        let lack = Lack()
        let transport = transport(lack) { $0 == 2 }
        for origin in [first, second, third] { #expect(await transport.load(origin.url()).text == "ok") }
        #expect(lack.connects == 4)
        #expect(await eventually { first.closedCount == 1 })
        #expect(second.closedCount == 0)
        #expect(await transport.load(second.url()).text == "ok")
        #expect(second.connectionCount == 1)
    }

    @Test("leaves the last descriptors to other parts of the process while it has another connection")
    func reserve() async throws {
        let (first, second) = (try origin(), try origin())
        var parts = EngineParts()
        parts.isReserved = { _ in true }
        let transport = NIOTransport(configuration: .ephemeral, options: NIOOptions(), parts: parts)
        #expect(await transport.load(first.url()).text == "ok")
        #expect(await transport.load(second.url()).text == "ok")
        #expect(await eventually { first.closedCount == 1 })
        #expect(DescriptorReserve.contains(84, of: 96))
        #expect(!DescriptorReserve.contains(83, of: 96))
        #expect(DescriptorReserve.contains(1_048_512, of: 1_048_576))
        #expect(!DescriptorReserve.contains(1_048_511, of: 1_048_576))
        #expect(!DescriptorReserve.contains(.max, of: .max))
    }

    @Test("waits for a connection that is in use")
    func busy() async throws {
        let gate = Gate()
        let first = try RawOrigin { _ in [.request, .gate(gate), .send(Self.ok), .again] }
        let second = try origin()
        let lack = Lack()
        let transport = transport(lack) { $0 == 1 }
        let (one, other) = (Recorder(), Recorder())
        _ = transport.start(URLRequest(first.url()), receiver: one)
        #expect(await eventually { first.requests.count == 1 })
        _ = transport.start(URLRequest(second.url()), receiver: other)
        #expect(await eventually { lack.connects == 2 })
        gate.open()
        #expect(await one.end().text == "ok")
        #expect(await other.end().text == "ok")
        #expect(lack.connects == 3)
        #expect(await eventually { first.closedCount == 1 })
    }

    @Test("says so if it has no other connection")
    func none() async throws {
        let origin = try origin()
        let outcome = await transport(Lack()) { _ in true }.load(origin.url())
        #expect(outcome.code == .cannotConnectToHost)
        #expect(outcome.error?.localizedDescription.contains("ulimit -n") == true)
        #expect(outcome.error?.localizedDescription.contains("server is running") == false)
    }

    @Test("waits no longer than a connect may take, and not for a load that is cancelled", arguments: [false, true])
    func timeOut(isCancelled: Bool) async throws {
        let gate = Gate()
        let first = try RawOrigin { _ in [.request, .gate(gate), .send(Self.ok)] }
        let second = try origin()
        let lack = Lack()
        let transport = transport(lack, connectTimeout: isCancelled ? 600 : 1) { $0 == 1 }
        let (one, other) = (Recorder(), Recorder())
        _ = transport.start(URLRequest(first.url()), receiver: one)
        #expect(await eventually { first.requests.count == 1 })
        let exchange = transport.start(URLRequest(second.url()), receiver: other)
        #expect(await eventually { lack.connects == 2 })
        if isCancelled {
            exchange.cancel()
        } else {
            #expect(await other.end().code == .cannotConnectToHost)
        }
        gate.open()
        #expect(await one.end().text == "ok")
        #expect(lack.connects == 2)
        #expect(second.requests.isEmpty)
    }

    @Test("is recognised by the error of the system, also within a list of errors")
    func recognised() {
        for code in [EMFILE, ENFILE] {
            let failure = TransportFailure(connecting: IOError(errnoCode: code, reason: "x"), host: "a", port: 1)
            #expect(failure.lacksDescriptors)
        }
        let refused = TransportFailure(connecting: IOError(errnoCode: ECONNREFUSED, reason: "x"), host: "a", port: 1)
        #expect(!refused.lacksDescriptors)
    }
}
#endif
