#if Tracing
import Foundation
import FoundationNetworking
import InMemoryTracing
import Testing
import Tracing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("The spans of loads", .timeLimit(.minutes(10)))
struct LoadSpanTests {
    private let tracer = InMemoryTracer()
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private func interceptor(_ change: (inout Interceptor.Configuration) -> Void = { _ in }) throws -> Interceptor {
        try Interceptor {
            $0.rules = [.block("http://127.0.0.1:*/blocked"), .allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: folder.url)
            $0.tracer = tracer
            change(&$0)
        }
    }

    /// The finished spans of loads or of exchanges, once there are so many.
    private func spans(_ count: Int, areExchanges: Bool) async -> [FinishedInMemorySpan] {
        func found() -> [FinishedInMemorySpan] {
            tracer.finishedSpans.filter { ($0.attributes["waystation.exchange"] != nil) == areExchanges }
        }
        _ = await eventually { found().count >= count }
        return found()
    }

    private func text(_ span: FinishedInMemorySpan?, _ name: String) -> String? {
        switch span?.attributes[name]?.toSpanAttribute() {
        case .string(let text): text
        case .int64(let number): "\(number)"
        case let value: value.map { "\($0)" }
        }
    }

    @Test("name the source, and have an exchange with the origin as a child, whose context the origin gets")
    func fetched() async throws {
        let origin = try ScriptedOrigin { _ in .ok("a", fields: ["Cache-Control": "max-age=60"]) }
        let client = try interceptor().client(configuration: .ephemeral)
        let url = origin.url("/a?token=secret")
        for _ in 1...2 { _ = try await client.data(for: url) }
        let loads = await spans(2, areExchanges: false)
        #expect(loads.map { text($0, "waystation.source") } == ["network", "cache"])
        #expect(loads.map(\.operationName) == ["GET", "GET"])
        #expect(loads.allSatisfy { $0.kind == .client && $0.status == nil })
        #expect(text(loads.first, "http.request.method") == "GET")
        #expect(text(loads.first, "http.response.status_code") == "200")
        #expect(text(loads.first, "http.response.body.size") == "1")
        #expect(text(loads.first, "server.address") == "127.0.0.1")
        #expect(text(loads.first, "server.port") == "\(origin.port)")
        #expect(text(loads.first, "waystation.rule") == "1")
        #expect(text(loads.first, "url.full")?.contains("/a") == true)
        #expect(text(loads.first, "url.full")?.contains("secret") == false)
        #expect(text(loads.last, "waystation.cache_status")?.contains("hit") == true)
        let exchanges = await spans(1, areExchanges: true)
        #expect(exchanges.map(\.parentSpanID) == [loads.first?.spanID])
        #expect(text(exchanges.first, "waystation.exchange") == "fetch")
        #expect(origin.requests.map { $0.value(of: InMemoryTracer.spanIDKey) } == [exchanges.first?.spanID])
    }

    @Test("tell a revalidation from a fetch")
    func revalidated() async throws {
        let origin = try ScriptedOrigin { request in
            request.value(of: "If-None-Match") == nil
                ? .ok("a", fields: ["Cache-Control": "no-cache", "ETag": "\"1\""])
                : .status(304, fields: ["ETag": "\"1\""])
        }
        let client = try interceptor().client(configuration: .ephemeral)
        for _ in 1...2 { _ = try await client.data(for: origin.url("/a")) }
        let exchanges = await spans(2, areExchanges: true)
        #expect(exchanges.map { text($0, "waystation.exchange") } == ["fetch", "revalidation"])
        #expect(exchanges.map { text($0, "http.response.status_code") } == ["200", "304"])
        #expect(await spans(2, areExchanges: false).map { text($0, "http.response.status_code") } == ["200", "200"])
    }

    @Test("end, also those of requests that are no longer answered at once")
    func outdated() async throws {
        let origin = try ScriptedOrigin { _ in .ok("a", fields: ["Cache-Control": "max-age=60"]) }
        let clock = ManualClock()
        let client = try interceptor { $0.now = clock.now }.client(configuration: .ephemeral)
        for _ in 1...4 {
            for _ in 1...3 { _ = try await client.data(for: origin.url("/a")) }
            clock.advance(by: 100)
        }
        _ = await spans(12, areExchanges: false)
        #expect(await eventually { tracer.activeSpans.isEmpty })
    }

    @Test("have the status of the response in a session, too")
    func session() async throws {
        let origin = try ScriptedOrigin { _ in .status(404) }
        let session = URLSession(configuration: .ephemeral.intercepted(by: try interceptor()))
        for _ in 1...20 { _ = try await session.data(from: origin.url("/a")) }
        let loads = await spans(20, areExchanges: false)
        #expect(loads.allSatisfy { text($0, "error.type") == "404" && text($0, "waystation.cache_status") != nil })
    }

    @Test("are children of the span of the task, and in a session of the one that the request names")
    func parents() async throws {
        let origin = try ScriptedOrigin { _ in .ok("a") }
        let interceptor = try interceptor()
        let client = interceptor.client(configuration: .ephemeral)
        try await tracer.withSpan("caller") { span in
            _ = try await client.data(for: origin.url("/a"))
            var request = URLRequest(url: origin.url("/b"))
            request.setValue(span.traceID, forHTTPHeaderField: InMemoryTracer.traceIDKey)
            request.setValue(span.spanID, forHTTPHeaderField: InMemoryTracer.spanIDKey)
            _ = try await URLSession(configuration: .ephemeral.intercepted(by: interceptor)).data(for: request)
        }
        // The caller's span is one of them.
        let spans = await spans(3, areExchanges: false)
        let caller = spans.first { $0.operationName == "caller" }
        #expect(spans.filter { $0.parentSpanID == caller?.spanID }.count == 2)
    }

    @Test("report an error of the server, a refusal, a failure and a cancel")
    func errors() async throws {
        let origin = try ScriptedOrigin { request in
            switch request.path {
            case "/missing": .status(404)
            case "/closed": .reset
            default: .unanswered
            }
        }
        let client = try interceptor().client(configuration: .ephemeral)
        _ = try await client.data(for: origin.url("/missing"))
        for path in ["/blocked", "/closed"] {
            await #expect(throws: URLError.self) { try await client.data(for: origin.url(path)) }
        }
        let task = Task { try await client.data(for: origin.url("/held")) }
        await origin.waitForRequests(origin.requestCount + 1)
        task.cancel()
        _ = await task.result
        let loads = await spans(4, areExchanges: false)
        #expect(loads.allSatisfy { $0.status?.code == .error })
        #expect(text(loads.first, "error.type") == "404")
        #expect(text(loads.dropFirst().first, "waystation.source") == "blocked")
        #expect(text(loads.last, "error.type") == "URLError.\(URLError.Code.cancelled.rawValue)")
        #expect(tracer.activeSpans.isEmpty)
    }
}
#endif
