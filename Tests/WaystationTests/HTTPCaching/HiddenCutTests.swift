import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

/// Foundation's engine reports no error when an HTTP/2 stream is reset with NO_ERROR within a body, or when a TLS
/// connection ends without close_notify.
@Suite("Bodies whose cut Foundation hides")
struct HiddenCutTests {
    /// Foundation's engine over https, without its TLS: its heads, and half of each body.
    private struct Cutting: Transport {
        let network: ScriptedTransport
        let hidesCuts: Bool

        func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
            network.start(request, receiver: Marking(receiver: receiver, hidesCuts: hidesCuts))
        }
    }

    private struct Marking: TransportReceiver {
        let receiver: any TransportReceiver
        let hidesCuts: Bool

        func transportDidReceive(_ head: ResponseHead) {
            var head = head
            head.hidesCuts = hidesCuts
            receiver.transportDidReceive(head)
        }
        func transportDidReceive(_ part: Data) { receiver.transportDidReceive(part) }
        func transportDidEnd(_ error: (any Error)?) { receiver.transportDidEnd(error) }
    }

    /// Loads a URL twice.
    ///
    /// - Returns: The number of requests, and the last `Cache-Status`.
    private func requests(
        _ url: String = "https://shop.example/a",
        fields: [String: String] = [:],
        status: Int = 200,
        hidesCuts: Bool = true,
        trusts: Bool = false
    ) async throws -> (count: Int, status: String) {
        let directory = try TemporaryDirectory()
        let network = ScriptedTransport { _ in
            let all = fields.merging(["Cache-Control": "max-age=60"]) { own, _ in own }
            return .init([.head(status, fields: all), .part(Data("half".utf8)), .end])
        }
        let interceptor = try Interceptor {
            $0.rules = ["http", "https"].map { .allow("\($0)://shop.example/**", via: .cache(.standard)) }
            $0.cache = try ResponseCache(directory: directory.url)
            $0.makeTransport = { _ in Cutting(network: network, hidesCuts: hidesCuts) }
            $0.storesCodedBodies = trusts
        }
        let session = URLSession(configuration: URLSessionConfiguration.ephemeral.intercepted(by: interceptor))
        var last = ""
        for _ in 1...2 {
            let (body, response) = try await session.data(from: try #require(URL(string: url)))
            #expect(body == Data("half".utf8))
            last = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "Cache-Status") ?? ""
        }
        return (network.requests.count, last)
    }

    @Test(
        "are delivered and not stored, also if the URL is not canonical",
        arguments: ["https://shop.example/a", "https://shop.example/x/../a", "HTTPS://shop.example/a"]
    )
    func cut(url: String) async throws {
        let got = try await requests(url)
        #expect(got.count == 2)
        #expect(got.status == "Waystation; fwd=uri-miss; fwd-status=200; detail=uncertain-length")
    }

    @Test("are told by their length or their chunks, and stored")
    func certain() async throws {
        #expect(try await requests(fields: ["Content-Length": "4"]).count == 1)
        #expect(try await requests(fields: ["Transfer-Encoding": "chunked"]).count == 1)
    }

    @Test("are told by the end of the connection without TLS, and stored")
    func plain() async throws {
        #expect(try await requests("http://shop.example/a").count == 1)
    }

    @Test("are stored by an engine that notices a cut, and for an app that trusts its servers")
    func trusted() async throws {
        #expect(try await requests(hidesCuts: false).count == 1)
        #expect(try await requests(trusts: true).count == 1)
    }

    @Test("are those of Foundation's engine, whose heads say so through all changes")
    func engine() async throws {
        let origin = try ScriptedOrigin { _ in .ok("body") }
        let head = try await withCheckedThrowingContinuation { continuation in
            let receiver = HeadReceiver { continuation.resume(with: $0) }
            let transport = URLSessionTransport(configuration: .ephemeral)
            _ = transport.start(URLRequest(url: origin.url("/")), receiver: receiver)
        }
        #expect(head.hidesCuts)
        #expect(head.with(origin.url("/other")).setting("A", to: "1").hidesCuts)
        #expect(!ResponseHead(url: origin.url("/"), statusCode: 200, fields: [:]).hidesCuts)
    }

    /// Passes the first head on; the exchange may end with an error after it.
    private final class HeadReceiver: TransportReceiver {
        private let completion: Mutex<(@Sendable (Result<ResponseHead, any Error>) -> Void)?>

        init(_ completion: @escaping @Sendable (Result<ResponseHead, any Error>) -> Void) {
            self.completion = Mutex(completion)
        }

        private func complete(_ result: Result<ResponseHead, any Error>) {
            let completion = completion.withLock { $0.take() }
            completion?(result)
        }

        func transportDidReceive(_ head: ResponseHead) { complete(.success(head)) }
        func transportDidReceive(_ part: Data) {}
        func transportDidEnd(_ error: (any Error)?) { if let error { complete(.failure(error)) } }
    }
}
