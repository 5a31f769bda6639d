import Foundation
import FoundationNetworking
import Testing
import WaystationStorage
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The answer of a 304", .timeLimit(.minutes(10)))
struct ConfirmedResponseTests {
    private let url = "https://a.example/confirmed"
    private let fields = ["Cache-Control": "no-cache", "ETag": "\"a\""]
    private let directory: TemporaryDirectory
    private let transport = DrivenTransport()
    private let interceptor: Interceptor

    /// Stores a response that must be validated each time.
    init() async throws {
        directory = try TemporaryDirectory()
        interceptor = try Interceptor { [directory, transport] in
            $0.rules = [.allow("https://*.example/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: directory.url, environment: .patient)
            $0.makeTransport = { _ in transport }
        }
        let (client, receiver) = try await load()
        receiver.transportDidReceive(try .head(200, fields, at: url))
        receiver.transportDidReceive(Data("body".utf8))
        receiver.transportDidEnd(nil)
        #expect(await client.completion().last == .end(nil))
    }

    /// Begins a load and waits for its request.
    private func load() async throws -> (client: RecordingJourneyClient, receiver: any TransportReceiver) {
        let count = transport.count
        let client = RecordingJourneyClient()
        try Journey(client, try URLRequest("GET", url), by: interceptor).begin()
        return (client, try await transport.receiver(count + 1))
    }

    @Test("does not wait for the end of the exchange, which is not cancelled")
    func atOnce() async throws {
        let (client, receiver) = try await load()
        receiver.transportDidReceive(try .head(304, fields, at: url))
        let calls = await client.completion()
        #expect(calls.contains(.part("body")) && calls.last == .end(nil))
        // The next load does not join the fetch, whose exchange has not ended.
        let next = try await load()
        receiver.transportDidEnd(URLError(.networkConnectionLost))
        next.receiver.transportDidReceive(try .head(304, fields, at: url))
        next.receiver.transportDidEnd(nil)
        #expect(await next.client.completion().last == .end(nil))
        #expect(transport.calls.isEmpty && transport.count == 3)
    }

    @Test("ends an exchange that sends content after the 304")
    func content() async throws {
        let (client, receiver) = try await load()
        receiver.transportDidReceive(try .head(304, fields, at: url))
        for _ in 1...3 { receiver.transportDidReceive(Data("endless".utf8)) }
        #expect(await client.completion().contains(.part("body")))
        #expect(transport.calls == [.cancel])
    }
}
