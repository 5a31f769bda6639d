import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

@Suite struct URLSessionFetcherTests {
    private let fetcher = URLSessionFetcher(configuration: Self.configuration)

    private static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        // Longer than a step of a test takes on a busy machine. By default, a response that waits at a gate fails after
        // 60 s.
        configuration.timeoutIntervalForRequest = 600
        return configuration
    }

    private func body(_ response: FetchedResponse) async throws -> Data {
        try await response.body.reduce(into: Data()) { $0.append($1) }
    }

    @Test("An error of the network is described by its text and its number")
    func description() throws {
        let url = try Sample.url("https://cdn.example/catalogue.json")
        let cause = URLError(.cannotConnectToHost, userInfo: [NSLocalizedDescriptionKey: "Connection refused"])
        #expect(
            "\(PackError.network(url, cause))"
                == "network: https://cdn.example/catalogue.json could not be loaded: check the connection and the "
                + "address (Connection refused, URLError -1004)"
        )
    }

    @Test("Head, fields and body arrive, whatever the status", arguments: [200, 206, 404, 500])
    func exchange(status: Int) async throws {
        let bytes = Data.random(300_000, seed: 41)
        let origin = try ScriptedOrigin { _ in .status(status, fields: ["ETag": "\"a\"", "X-Odd": "b"], body: bytes) }
        let response = try await fetcher.fetch(FetchRequest(origin.url("/f?q=1"), maximumBodySize: 300_000))
        #expect(response.status == status)
        #expect(response.fields[.eTag] == "\"a\"")
        #expect(response.url == origin.url("/f?q=1"))
        #expect(try await body(response) == bytes)
    }

    @Test("Method, fields and body are sent")
    func sending() async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        let request = FetchRequest(
            origin.url(),
            method: .post,
            fields: [.accept: "text/x", .range: "bytes=5-"],
            body: Data("question".utf8),
            maximumBodySize: 10
        )
        _ = try await fetcher.fetch(request)
        let received = try #require(origin.requests.first)
        #expect(received.method == "POST")
        #expect(received.body == Data("question".utf8))
        #expect(received.value(of: "Accept") == "text/x")
        #expect(received.value(of: "Range") == "bytes=5-")
        #expect(received.value(of: "Cookie") == nil)
    }

    @Test("A redirect that keeps the method keeps the body, and takes no key to another origin", arguments: [307, 308])
    func redirectedBody(status: Int) async throws {
        let key = try #require(HTTPField.Name("X-API-Key"))
        let other = try ScriptedOrigin { _ in .ok(Data("answer".utf8)) }
        let target = other.url("/there").absoluteString
        let origin = try ScriptedOrigin { request in
            .status(status, fields: ["Location": request.path == "/here" ? target : "/here"])
        }
        let request = FetchRequest(
            origin.url("/start"),
            method: .post,
            fields: [.contentType: "application/json", key: "secret"],
            body: Data("question".utf8),
            maximumBodySize: 10
        )
        let response = try await fetcher.fetch(request)
        #expect(response.status == 200)
        #expect(response.url == other.url("/there"))
        #expect(try await body(response) == Data("answer".utf8))
        #expect(origin.requests.map(\.path) == ["/start", "/here"])
        for received in origin.requests + other.requests {
            #expect(received.method == "POST")
            #expect(received.body == Data("question".utf8))
            #expect(received.value(of: "Content-Type") == "application/json")
        }
        #expect(origin.requests.allSatisfy { $0.value(of: "X-API-Key") == "secret" })
        #expect(other.requests.allSatisfy { $0.value(of: "X-API-Key") == nil })
    }

    @Test("A server that redirects a request with a body without an end gets eleven requests")
    func endlessRedirects() async throws {
        let origin = try ScriptedOrigin { _ in .status(308, fields: ["Location": "/"]) }
        let request = FetchRequest(origin.url("/"), method: .post, body: Data("question".utf8), maximumBodySize: 10)
        #expect(try await fetcher.fetch(request).status == 308)
        #expect(origin.requests.count == 11)
    }

    @Test("The head is available before the body, and parts are delivered as they arrive")
    func streaming() async throws {
        let gates = [try ScriptedOrigin.Gate(), try ScriptedOrigin.Gate()]
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data("one".utf8)), .wait(gates[0]), .bytes(Data("two".utf8)), .wait(gates[1])])
        }
        let response = try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 10))
        var parts = response.body.makeAsyncIterator()
        #expect(try await parts.next() == Data("one".utf8))
        gates[0].open()
        #expect(try await parts.next() == Data("two".utf8))
        gates[1].open()
        #expect(try await parts.next() == nil)
    }

    @Test("One byte over the limit ends the body with an error, and the transfer")
    func limit() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { request in
            request.path == "/endless" ? .stream([.bytes(Data(count: 101)), .wait(gate)]) : .ok(Data(count: 100))
        }
        let exact = try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 100))
        #expect(try await body(exact).count == 100)
        let over = try await fetcher.fetch(FetchRequest(origin.url("/endless"), maximumBodySize: 100))
        #expect(await errorCode { try await body(over) } == .tooLarge)
        await origin.waitForAbandonedRequests(1)
    }

    @Test("Dropping a response stops its transfer")
    func dropping() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data(count: 10)), .wait(gate)]) }
        _ = try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 100))
        await origin.waitForAbandonedRequests(1)
    }

    @Test("Cancelling stops the transfer, before the head and after it")
    func cancelling() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { request in
            request.path == "/silent" ? .unanswered : .stream([.bytes(Data(count: 10)), .wait(gate)])
        }
        let early = Task { try await fetcher.fetch(FetchRequest(origin.url("/silent"), maximumBodySize: 100)) }
        await origin.waitForRequests(1)
        early.cancel()
        #expect(await errorCode { try await early.value } == .cancelled)
        await origin.waitForAbandonedRequests(1)
        let (heads, head) = AsyncStream.makeStream(of: Void.self)
        let late = Task {
            let response = try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 100))
            head.yield()
            return try await body(response)
        }
        for await _ in heads { break }
        late.cancel()
        _ = await late.result
        await origin.waitForAbandonedRequests(2)
    }

    @Test("A hundred cancellations in every phase cause no hang and end each fetch", arguments: [UInt64](1...3))
    func cancelRace(seed: UInt64) async throws {
        let origin = try ScriptedOrigin { _ in .ok(Data(count: 1000)) }
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let fetch = Task {
                let response = try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 2000))
                return try await body(response).count
            }
            for _ in 0..<Int.random(in: 0..<40, using: &generator) { await Task.yield() }
            fetch.cancel()
            _ = await fetch.result
        }
        let response = try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 2000))
        #expect(try await body(response).count == 1000)
    }

    @Test("A body that breaks off causes an error", arguments: [true, false])
    func truncated(isReset: Bool) async throws {
        let origin = try ScriptedOrigin { _ in
            .stream([.bytes(Data(count: 50)), isReset ? .reset : .close], framing: .declaredLength(100))
        }
        // A connection reset may arrive before the head.
        let code = await errorCode {
            try await body(await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 100)))
        }
        #expect(code == .network)
    }

    @Test("A 401 is returned as an answer, and does not hang")
    func refusal() async throws {
        let origin = try ScriptedOrigin { _ in .status(401, fields: ["WWW-Authenticate": "Basic realm=\"x\""]) }
        #expect(try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 100)).status == 401)
    }

    @Test("Redirects are followed with the fields; credentials are not sent to another origin")
    func redirects() async throws {
        let other = try ScriptedOrigin { _ in .ok("there") }
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/a": .redirect(302, to: "/b")
            case "/b": .redirect(307, to: other.url("/c").absoluteString)
            default: .status(404)
            }
        }
        let fields: HTTPFields = [.authorization: "secret", .range: "bytes=5-"]
        let response = try await fetcher.fetch(FetchRequest(origin.url("/a"), fields: fields, maximumBodySize: 100))
        #expect(response.status == 200)
        #expect(response.url == other.url("/c"))
        #expect(try await body(response) == Data("there".utf8))
        #expect(origin.requests.map { $0.value(of: "Authorization") } == ["secret", "secret"])
        #expect(other.requests.first?.value(of: "Authorization") == nil)
        #expect(other.requests.first?.value(of: "Range") == "bytes=5-")
    }

    @Test(
        "A redirect without a target, or in a circle, is returned as the answer",
        arguments: ["file:///etc/passwd", "/", "ftp://a/b"]
    )
    func badRedirects(location: String) async throws {
        let origin = try ScriptedOrigin { _ in .redirect(302, to: location) }
        let response = try await fetcher.fetch(FetchRequest(origin.url(), maximumBodySize: 100))
        #expect(response.status == 302)
        #expect(origin.requestCount <= 11)
    }

    @Test("Only http and https are fetched", arguments: ["file:///etc/passwd", "ftp://a.example/b", "data:,x", "shop"])
    func schemes(url: String) async throws {
        let url = try Sample.url(url)
        #expect(await errorCode { try await fetcher.fetch(FetchRequest(url, maximumBodySize: 1)) } == .invalidArgument)
    }

    @Test("An unreachable server causes a network error that contains no secrets of the URL")
    func unreachable() async throws {
        let origin = try ScriptedOrigin { _ in .ok() }
        origin.stop()
        let error = await #expect(throws: PackError.self) {
            try await fetcher.fetch(FetchRequest(origin.url("/f?token=secret"), maximumBodySize: 1))
        }
        #expect(error?.code == .network)
        #expect(error?.message.contains("/f") == true)
        #expect(error?.message.contains("secret") == false)
    }

    @Test("A field that the configuration adds is sent to the first origin only")
    func additionalFields() async throws {
        let other = try ScriptedOrigin { _ in .ok("there") }
        let origin = try ScriptedOrigin { _ in .redirect(307, to: other.url("/").absoluteString) }
        let configuration = Self.configuration
        configuration.httpAdditionalHeaders = ["X-API-Key": "secret", "User-Agent": "shop/1", "Number": 7]
        let fetcher = URLSessionFetcher(configuration: configuration)
        let request = FetchRequest(origin.url(), fields: [.userAgent: "own"], maximumBodySize: 100)
        #expect(try await fetcher.fetch(request).status == 200)
        #expect(origin.requests.map { $0.value(of: "X-API-Key") } == ["secret"])
        #expect(origin.requests.map { $0.value(of: "Number") } == ["7"])
        #expect(other.requests.map { $0.value(of: "X-API-Key") } == [nil])
        #expect((origin.requests + other.requests).map { $0.value(of: "User-Agent") } == ["own", "own"])
    }

    @Test("A transfer waits for its reader: few bytes are kept in memory, and all arrive")
    func pace() async throws {
        let part = Data(repeating: 7, count: 1 << 20)
        let origin = try ScriptedOrigin { request in
            request.path == "/long" ? .stream(Array(repeating: .bytes(part), count: 64)) : .ok("short")
        }
        // No rest of the transfers ends before the reader has taken its bytes, however slow the machine is.
        fetcher.transport.pacer.rest(atMost: .seconds(3_600))
        let response = try await fetcher.fetch(FetchRequest(origin.url("/long"), maximumBodySize: 64 << 20))
        let backlog = fetcher.backlog
        #expect(await eventually { backlog.bytes > TransferPace.backlogLimit })
        // Meanwhile, a transfer without bounds would end.
        for _ in 0..<200 {
            let short = try await URLSessionFetcher.shared.fetch(FetchRequest(origin.url("/"), maximumBodySize: 10))
            #expect(try await body(short) == Data("short".utf8))
        }
        #expect(backlog.bytes < 4 << 20)
        var count = 0
        for try await part in response.body { count += part.count }
        #expect(count == 64 << 20)
        #expect(backlog.bytes == 0)
    }

    @Test("An interceptor's configuration does not intercept the fetcher's own requests")
    func ownLoaders() async throws {
        let origin = try ScriptedOrigin { _ in .ok("network") }
        let configuration = Self.configuration
        configuration.protocolClasses = [RefusingProtocol.self] + (configuration.protocolClasses ?? [])
        let response = try await URLSessionFetcher(configuration: configuration)
            .fetch(FetchRequest(origin.url(), maximumBodySize: 100))
        #expect(try await body(response) == Data("network".utf8))
    }

    private final class RefusingProtocol: URLProtocol {
        override class func canInit(with request: URLRequest) -> Bool { true }
        override class func canonicalRequest(for request: URLRequest) -> URLRequest { request }
        override func startLoading() { client?.urlProtocol(self, didFailWithError: URLError(.cancelled)) }
        override func stopLoading() {}
    }
}
