import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("A transport with responses in memory", .timeLimit(.minutes(10)))
struct ResidentTransportTests {
    /// Has one response for all requests, and counts those that are started all the same.
    private final class Memory: ResidentTransport {
        private let exchanges: ScriptedTransport
        private let response: ResidentResponse?
        private let asked = Mutex<[URLRequest]>([])

        init(_ status: Int = 200, fields: [String: String] = [:], isMade: Bool = false) throws {
            let url = try #require(URL(string: "https://a.example/made"))
            let head = ResponseHead(url: url, statusCode: status, fields: fields)
            response = ResidentResponse(head, Data("body".utf8), isMade: isMade)
            exchanges = ScriptedTransport { request in
                // The target of a redirect has another response.
                request.url?.path == "/next"
                    ? .ok("next") : .status(status, fields: fields, body: Data("body".utf8))
            }
        }

        /// The requests that were answered without an exchange.
        var answered: [URLRequest] { asked.withLock { $0 } }
        var started: [URLRequest] { exchanges.requests }

        func residentResponse(to request: URLRequest) -> ResidentResponse? {
            guard let response else { return nil }
            asked.withLock { $0.append(request) }
            return response
        }

        func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
            exchanges.start(request, receiver: receiver)
        }
    }

    private func interceptor(
        _ memory: any Transport,
        _ configure: (inout Interceptor.Configuration) throws -> Void = { _ in }
    ) throws -> Interceptor {
        try Interceptor {
            $0.rules = [.allow("https://a.example/**", via: .carried(by: memory, as: "memory"))]
            try configure(&$0)
        }
    }

    private func session(_ interceptor: Interceptor, _ delegate: RecordingDelegate? = nil) -> URLSession {
        URLSession(configuration: .ephemeral.intercepted(by: interceptor), delegate: delegate, delegateQueue: nil)
    }

    private func url(_ path: String) throws -> URL { try #require(URL(string: "https://a.example" + path)) }

    @Test("answers every kind of caller without an exchange", arguments: [false, true])
    func callers(isMade: Bool) async throws {
        let memory = try Memory(isMade: isMade)
        let interceptor = try interceptor(memory)
        let session = session(interceptor)
        for path in ["/made", "/other"] {
            let (data, response) = try await session.data(from: url(path))
            #expect(data == Data("body".utf8))
            #expect(response.url == (try url(path)))
        }
        let handled = await withCheckedContinuation { continuation in
            session.dataTask(with: URL(string: "https://a.example/made")!) { data, _, _ in
                continuation.resume(returning: data)
            }.resume()
        }
        #expect(handled == Data("body".utf8))
        let delegate = RecordingDelegate()
        self.session(interceptor, delegate).dataTask(with: try url("/made")).resume()
        await delegate.completion()
        #expect(delegate.calls == [.response(200), .data(4), .completed(nil)])
        var upload = URLRequest(url: try url("/made"))
        upload.httpMethod = "PUT"
        #expect(try await session.upload(for: upload, from: Data("sent".utf8)).0 == Data("body".utf8))
        let (file, _) = try await session.download(from: url("/made"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("body".utf8))
        #expect(memory.answered.count == 6)
        #expect(memory.answered.compactMap(\.httpBody) == [Data("sent".utf8)])
        #expect(memory.started.isEmpty)
    }

    @Test("gets the canonical URL, and the caller its own")
    func canonicalURL() async throws {
        let memory = try Memory()
        let (_, response) = try await session(interceptor(memory)).data(from: url("/a/../b?x#part"))
        #expect(response.url == (try url("/a/../b?x#part")))
        #expect(memory.answered.map(\.url) == [try url("/b?x")])
    }

    private final class LastExchange: ExchangeRecorder {
        let bodyLimit = 1 << 10
        let exchange = Mutex<RecordedExchange?>(nil)

        func exchangeDidEnd(_ exchange: RecordedExchange) { self.exchange.withLock { $0 = exchange } }
    }

    /// Starts every request of another transport.
    private struct Exchanges: Transport {
        let transport: any Transport

        func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
            transport.start(request, receiver: receiver)
        }
    }

    @Test(
        "answers as an exchange does",
        arguments: [
            (200, ["etag": "\"a\""]), (204, [:]), (404, ["Content-Type": "text/plain"]), (503, ["Cache-Status": "A"]),
        ]
    )
    func equivalence(status: Int, fields: [String: String]) async throws {
        var seen: [[String]] = []
        for isResident in [true, false] {
            let memory = try Memory(status, fields: fields)
            let recorder = LastExchange()
            let interceptor = try interceptor(isResident ? memory : Exchanges(transport: memory)) {
                $0.recorder = recorder
            }
            let events = interceptor.events
            let (data, response) = try await session(interceptor).data(from: url("/made"))
            let head = try #require(response as? HTTPURLResponse)
            #expect(memory.started.isEmpty == isResident)
            let event = try #require(await events.first { _ in true })
            let exchange = try #require(recorder.exchange.withLock { $0 })
            let received = head.allHeaderFields as? [String: String] ?? [:]
            let recorded: [Any?] = [
                exchange.body, exchange.bodyLength, exchange.source, exchange.rule, exchange.response?.statusCode,
                exchange.response?.allHeaderFields.count, exchange.request.url,
            ]
            // The compiler takes ten seconds for one expression of all these.
            var facts = ["\(head.statusCode)", "\(data)", "\(event.kind)", "\(event.rule ?? -1)"]
            facts += recorded.map { "\($0 as Any)" }
            facts += received.map { "\($0.key): \($0.value)" }.sorted()
            seen.append(facts)
        }
        #expect(seen[0] == seen[1])
        #expect(seen[0].contains { $0.contains("fwd=bypass; fwd-status=\(status)") })
    }

    @Test("answers by an exchange where more requests follow", arguments: [301, 302, 303, 307, 308, 401])
    func moreRequests(status: Int) async throws {
        let memory = try Memory(status, fields: ["Location": "/next"])
        let (data, _) = try await session(interceptor(memory)).data(from: url("/made"))
        #expect(data == Data((status == 401 ? "body" : "next").utf8))
        #expect(memory.answered.isEmpty)
    }

    @Test("answers by an exchange where the response's cookies are stored")
    func cookies() async throws {
        let memory = try Memory(fields: ["Set-Cookie": "id=1"])
        let store = CookieStore()
        let session = session(try interceptor(memory) { $0.cookies = store })
        _ = try await session.data(from: url("/made"))
        #expect(memory.answered.isEmpty)
        #expect(memory.started.count == 1)
    }

    @Test("answers by an exchange where the response invalidates what is stored", arguments: ["GET", "POST"])
    func invalidation(method: String) async throws {
        let memory = try Memory()
        let directory = try TemporaryDirectory()
        let session = session(try interceptor(memory) { $0.cache = try ResponseCache(directory: directory.url) })
        var request = URLRequest(url: try url("/made"))
        request.httpMethod = method
        _ = try await session.data(for: request)
        #expect(memory.answered.count == (method == "GET" ? 1 : 0))
    }

    @Test("answers by an exchange where the body is a stream")
    func stream() async throws {
        let memory = try Memory()
        var request = URLRequest(url: try url("/made"))
        request.httpMethod = "POST"
        request.httpBodyStream = InputStream(data: Data("sent".utf8))
        _ = try await session(interceptor(memory)).data(for: request)
        #expect(memory.answered.isEmpty)
        #expect(memory.started.count == 1)
    }
}
