import AsyncHTTPClient
import Foundation
import Measuring
import NIOCore
import Waystation
import WaystationAsyncHTTPClient
import WaystationTestSupport

/// A client whose connections only Waystation uses, so that both sides of a comparison have their own.
private let own = HTTPClient(configuration: .singletonConfiguration)

extension Benchmark {
    /// AsyncHTTPClient's calls by the rules of an interceptor, beside AsyncHTTPClient alone.
    static let asyncHTTPClient: [Benchmark] = [
        Benchmark("ahc-hit") {
            let archive = try await Archive(entries: 1_000, way: .cached, keepsBodiesInMemory: true)
            _ = try await archive.loads(count: 2_000).microseconds(atATime: 64)
            let client = archive.interceptor.httpClient()
            return try await direct(
                "ahc-hit",
                limit: 5,
                archive.loads(count: 20_000) { try await client.execute($0, timeout: .seconds(60)) }
            )
        },
        Benchmark("ahc-untouched/ahc") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            try Floor.body.write(to: nginx.root.appendingPathComponent("body.txt"))
            let urls = [nginx.url("body.txt")]
            let client = try InterceptedSession.untouched().required().httpClient()
            return try await Loads.ratio(
                "ahc-untouched/ahc",
                limit: 1.05,
                judged: .alone,
                of: (
                    "ahc-untouched", Loads(urls, count: 1_000) { try await client.execute($0, timeout: .seconds(60)) }
                ),
                to: (
                    "ahc", Loads(urls, count: 1_000) { try await HTTPClient.shared.execute($0, timeout: .seconds(60)) }
                )
            )
        },
        Benchmark("ahc-relayed/ahc") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            try Floor.body.write(to: nginx.root.appendingPathComponent("body.txt"))
            let urls = [nginx.url("body.txt")]
            let client = try InterceptedSession.network(by: .asyncHTTPClient(own)).required().httpClient(over: own)
            return try await Loads.ratio(
                "ahc-relayed/ahc",
                limit: nil,
                judged: .alone,
                of: ("ahc-relayed", Loads(urls, count: 1_000) { try await client.execute($0, timeout: .seconds(60)) }),
                to: (
                    "ahc", Loads(urls, count: 1_000) { try await HTTPClient.shared.execute($0, timeout: .seconds(60)) }
                )
            )
        },
        Benchmark("ahc-stored/ahc") {
            let nginx = try Nginx()
            defer { nginx.stop() }
            let count = 300
            let urls = try (0..<16 * Loads.Width.allCases.count * count).map {
                try nginx.serve(Pattern.body($0, count: Sizes.small), at: "fresh/\($0).txt")
            }
            let scratch = try ScratchDirectory()
            let intercepted = try InterceptedSession.cached(in: scratch.url, by: .asyncHTTPClient(own))
            let client = try intercepted.required().httpClient(over: own)
            return try await Loads.ratio(
                "ahc-stored/ahc",
                limit: 1.35,
                judged: .alone,
                of: (
                    "ahc-stored",
                    Loads(each: urls, count: count) { try await client.execute($0, timeout: .seconds(60)) }
                ),
                to: (
                    "ahc",
                    Loads(each: urls.reversed(), count: count) {
                        try await HTTPClient.shared.execute($0, timeout: .seconds(60))
                    }
                )
            )
        },
    ]
}

extension Loads {
    /// Executes a request of AsyncHTTPClient's.
    typealias Execute = @Sendable (HTTPClientRequest) async throws -> HTTPClientResponse

    /// Makes loads by AsyncHTTPClient's calls that use the same URLs in every turn.
    init(_ urls: [URL], count: Int, _ execute: @escaping Execute) {
        self.init(urls, count: count) { (url: URL) in
            let request = HTTPClientRequest(url: url.absoluteString)
            return try await execute(request).body.collect(upTo: 1 << 20).readableBytes
        }
    }

    /// Makes loads by AsyncHTTPClient's calls that use new URLs in every turn.
    init(each urls: [URL], count: Int, _ execute: @escaping Execute) {
        self.init(each: urls, count: count) { (url: URL) in
            let request = HTTPClientRequest(url: url.absoluteString)
            return try await execute(request).body.collect(upTo: 1 << 20).readableBytes
        }
    }
}
