import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationNIO

@Suite("Hummingbird, loaded from by a session with the engine on SwiftNIO", .timeLimit(.minutes(10)))
struct HummingbirdTests {
    /// A session whose loads the engine carries.
    private static func session(_ way: HummingbirdServer.Way) throws -> URLSession {
        var options = NIOOptions()
        options.environment = [:]
        if way.isSecure { options.additionalTrustedRoots = [.pemFile(path: try Certificate.shared.get().path)] }
        if way == .priorKnowledge { options.httpVersions = .http2PriorKnowledge }
        let interceptor = try Interceptor {
            $0.transport = .nio(options)
            $0.rules = [.allow("*://localhost:*/**", via: .network)]
        }
        return URLSession(configuration: URLSessionConfiguration.ephemeral.intercepted(by: interceptor))
    }

    private static func request(_ address: String, _ path: String, body: Data? = nil) throws -> URLRequest {
        var request = URLRequest(url: try #require(URL(string: address + path)))
        request.timeoutInterval = 600
        if let body {
            request.httpMethod = "POST"
            request.httpBody = body
        }
        return request
    }

    /// Whether two large bodies are the same; a failed `==` would take minutes to describe their difference.
    private static func isSame(_ first: Data, _ second: Data) -> Bool { first == second }

    /// Runs `body` with a session and the address of an application.
    private func withServer(
        _ way: HummingbirdServer.Way,
        _ body: @escaping @Sendable (URLSession, _ address: String) async throws -> Void
    ) async throws {
        let session = try Self.session(way)
        try await HummingbirdServer.run(way) { try await body(session, $0) }
        session.invalidateAndCancel()
    }

    @Test("streams many bodies at once, by the version that was agreed on", arguments: HummingbirdServer.Way.allCases)
    func many(way: HummingbirdServer.Way) async throws {
        try await withServer(way) { session, address in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<60 {
                    group.addTask {
                        let (body, response) = try await session.data(for: Self.request(address, "/stream"))
                        #expect(Self.isSame(body, HummingbirdServer.streamed))
                        let version = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Version")
                        #expect(version == way.version)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test("sends uploads back while they still arrive", arguments: HummingbirdServer.Way.allCases)
    func echo(way: HummingbirdServer.Way) async throws {
        try await withServer(way) { session, address in
            for count in [0, 1, 100_000, 2_000_000] {
                let sent = HummingbirdServer.streamed.prefix(count)
                let (body, _) = try await session.data(for: Self.request(address, "/echo", body: sent))
                #expect(Self.isSame(body, sent))
            }
        }
    }

    @Test("sends trailers, which are dropped", arguments: HummingbirdServer.Way.allCases)
    func trailers(way: HummingbirdServer.Way) async throws {
        try await withServer(way) { session, address in
            for _ in 0..<3 {
                let (body, response) = try await session.data(for: Self.request(address, "/trailers"))
                #expect(String(decoding: body, as: UTF8.self) == "hello")
                #expect((response as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag") == nil)
            }
        }
    }

    @Test("refuses an upload that it does not read", arguments: HummingbirdServer.Way.allCases)
    func refusal(way: HummingbirdServer.Way) async throws {
        try await withServer(way) { session, address in
            for _ in 0..<3 {
                let sent = HummingbirdServer.streamed
                let (body, response) = try await session.data(for: Self.request(address, "/refuse", body: sent))
                #expect((response as? HTTPURLResponse)?.statusCode == 413)
                #expect(String(decoding: body, as: UTF8.self) == "no")
            }
        }
    }

    @Test("breaks off within a body, which fails the load and no other", arguments: HummingbirdServer.Way.allCases)
    func brokenOff(way: HummingbirdServer.Way) async throws {
        try await withServer(way) { session, address in
            await #expect(throws: URLError.self) {
                try await session.data(for: Self.request(address, "/early"))
            }
            let (body, _) = try await session.data(for: Self.request(address, "/stream"))
            #expect(Self.isSame(body, HummingbirdServer.streamed))
        }
    }
}
