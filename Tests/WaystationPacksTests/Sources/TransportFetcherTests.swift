import Foundation
import FoundationNetworking
import HTTPTypes
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

@Suite struct TransportFetcherTests {
    private let url = URL(string: "http://a.example/pack.zip")
    private let part = Data(repeating: 7, count: 100 << 10)

    private func request(maximumBodySize: Int = 1 << 20) throws -> FetchRequest {
        FetchRequest(try #require(url), maximumBodySize: maximumBodySize)
    }

    /// A response whose head has arrived.
    private func begun(
        _ transport: DrivenTransport,
        maximumBodySize: Int = 1 << 20
    ) async throws -> (FetchedResponse, any TransportReceiver) {
        let request = try request(maximumBodySize: maximumBodySize)
        async let response = TransportFetcher(transport).fetch(request)
        let receiver = try await transport.receiver(1)
        receiver.transportDidReceive(ResponseHead(url: request.url, statusCode: 200, fields: [:]))
        return (try await response, receiver)
    }

    @Test("The exchange pauses while more than 256 KiB wait, and reads again when they are taken")
    func pausing() async throws {
        let transport = DrivenTransport(startsOnAnyQueue: true)
        let (response, receiver) = try await begun(transport)
        for _ in 0..<2 { receiver.transportDidReceive(part) }
        #expect(transport.calls.isEmpty)
        for _ in 0..<2 { receiver.transportDidReceive(part) }
        #expect(transport.calls == [.pause])
        var parts = response.body.makeAsyncIterator()
        #expect(try await parts.next()?.count == 4 * part.count)
        #expect(transport.calls == [.pause, .resume])
        receiver.transportDidReceive(part)
        receiver.transportDidEnd(nil)
        #expect(try await parts.next() == part)
        #expect(try await parts.next() == nil)
        #expect(transport.calls == [.pause, .resume])
    }

    @Test("A body that is dropped, or read to its end, leaves no bytes behind", arguments: [true, false])
    func backlog(isDropped: Bool) async throws {
        let transport = DrivenTransport(startsOnAnyQueue: true)
        let backlog = Fetch.Backlog()
        let fetch = Fetch(of: try #require(url), maximumBodySize: 1 << 20, backlog: backlog)
        async let head = fetch.head(of: URLRequest(url: try #require(url)), through: transport)
        _ = try await transport.receiver(1)
        fetch.transportDidReceive(ResponseHead(url: try #require(url), statusCode: 200, fields: [:]))
        #expect(try await head.statusCode == 200)
        fetch.transportDidReceive(part)
        #expect(backlog.bytes == part.count)
        if isDropped {
            _ = fetch.body
        } else {
            fetch.transportDidEnd(nil)
            #expect(try await fetch.body.reduce(0) { $0 + $1.count } == part.count)
        }
        #expect(backlog.bytes == 0)
        #expect(transport.calls == (isDropped ? [.cancel] : []))
    }

    @Test("One byte over the limit stops the exchange; bytes that arrive later are ignored")
    func limit() async throws {
        let transport = DrivenTransport(startsOnAnyQueue: true)
        let (response, receiver) = try await begun(transport, maximumBodySize: part.count)
        receiver.transportDidReceive(part)
        receiver.transportDidReceive(Data(count: 1))
        receiver.transportDidReceive(part)
        receiver.transportDidEnd(nil)
        #expect(transport.calls == [.cancel])
        var parts = response.body.makeAsyncIterator()
        #expect(try await parts.next() == part)
        #expect(await errorCode { try await parts.next() } == .tooLarge)
    }

    @Test("A fetch that is cancelled while its transport starts, stops it", arguments: [true, false])
    func cancelledStart(startsOnAnyQueue: Bool) async throws {
        let transport = DrivenTransport(startsOnAnyQueue: startsOnAnyQueue)
        let request = try request()
        let fetch = Task { try await TransportFetcher(transport).fetch(request) }
        fetch.cancel()
        #expect(await errorCode { try await fetch.value } == .cancelled)
        #expect(await eventually { transport.count == 0 || transport.calls == [.cancel] })
    }

    @Test("An exchange that ends without a head is an error of the network")
    func headless() async throws {
        let transport = DrivenTransport(startsOnAnyQueue: true)
        let request = try request()
        async let code = errorCode { try await TransportFetcher(transport).fetch(request) }
        try await transport.receiver(1).transportDidEnd(nil)
        #expect(await code == .network)
    }

    @Test("Redirects are followed through the transport, with the body; the eleventh is the answer")
    func redirects() async throws {
        let network = ScriptedTransport { request in
            let number = Int(request.url?.lastPathComponent ?? "") ?? 0
            return number == 3 ? .ok("there") : .status(307, fields: ["Location": "/\(number + 1)"])
        }
        let start = try #require(URL(string: "http://a.example/0"))
        let fetcher = TransportFetcher(network)
        let request = FetchRequest(start, method: .post, body: Data("question".utf8), maximumBodySize: 100)
        let response = try await fetcher.fetch(request)
        #expect(response.status == 200)
        #expect(response.url.path == "/3")
        #expect(network.requests.map(\.httpBody) == Array(repeating: Data("question".utf8), count: 4))
        var endless = request
        endless.url = try #require(URL(string: "http://a.example/4"))
        #expect(try await fetcher.fetch(endless).status == 307)
        #expect(network.requests.count == 4 + 11)
    }

    @Test("A request that the transport cannot carry is sent by Foundation")
    func notCarried() async throws {
        struct Refusing: Transport {
            func canCarry(_ request: URLRequest) -> Bool { false }
            func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
                Issue.record("the transport was started")
                return URLSessionFetcher.shared.transport.start(request, receiver: receiver)
            }
        }
        let origin = try ScriptedOrigin { _ in .ok("from Foundation") }
        let response = try await TransportFetcher(Refusing()).fetch(FetchRequest(origin.url(), maximumBodySize: 100))
        #expect(try await response.body.reduce(into: Data()) { $0 += $1 } == Data("from Foundation".utf8))
    }
}
