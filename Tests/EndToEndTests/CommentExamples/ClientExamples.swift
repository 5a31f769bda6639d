import Foundation
import FoundationNetworking
import HTTPTypes
import Testing
import Waystation
import WaystationTesting

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import WaystationAsyncHTTPClient
#endif

#if Configuration
import Configuration
#endif

/// The examples of the direct client, compiled and not run.
enum ClientExamples {
    static func comment(_ interceptor: Interceptor, _ url: URL, _ feed: URL) async throws {
        // snippet: comment-client
        let client = interceptor.client()
        let (page, head) = try await client.data(for: url)
        let events = try await client.response(for: feed)
        for try await line in events.body.lines { print(line) }
        // end snippet
        _ = (page, head)
    }

    static func whole(_ interceptor: Interceptor, _ url: URL) async throws {
        // snippet: client-data
        let client = interceptor.client()
        let (page, head) = try await client.data(for: url)
        print(head.status, page.count, "bytes")
        // end snippet
    }

    static func download(_ session: URLSession, _ film: URL) async throws -> URL {
        // snippet: session-download
        let (file, _) = try await session.download(from: film)
        // end snippet
        return file
    }

    static func request(_ client: DirectClient, _ photo: URL) async throws -> HTTPResponse {
        // snippet: client-request
        var request = HTTPRequest(method: .put, scheme: "https", authority: "api.example", path: "/photos/1")
        request.headerFields[.contentType] = "image/jpeg"
        var options = DirectClient.Options()
        options.deadline = .seconds(30)
        let (_, head) = try await client.data(for: request, body: .file(photo), options: options)
        // end snippet
        return head
    }

    static func download(_ client: DirectClient, _ film: URL, _ file: URL) async throws {
        // snippet: client-download
        try await client.download(for: film, to: file) { progress in
            print("\(progress.completed) of \(progress.expected.map(String.init) ?? "?") bytes")
        }
        // end snippet
    }

    static func parts(_ client: DirectClient, _ feed: URL) async throws {
        // snippet: client-parts
        let response = try await client.response(for: feed)
        for try await line in response.body.lines where line.hasPrefix("data:") {
            print(line.dropFirst(5))
        }
        print(response.metrics.source, response.metrics.receivedBytes)
        // end snippet
    }
}

#if Configuration
extension ClientExamples {
    static func settings(_ settings: ConfigReader, _ rules: [Rule]) async throws -> Interceptor {
        // snippet: settings
        var configuration = try await Interceptor.Configuration(reading: settings.scoped(to: "waystation"))
        configuration.rules = rules
        let interceptor = try Interceptor(configuration)
        // end snippet
        return interceptor
    }
}
#endif

#if AsyncHTTPClient
extension ClientExamples {
    static func asyncHTTPClient(_ http: HTTPClient, _ folder: URL) async throws {
        // snippet: async-http-client
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://api.example/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: folder)
            $0.transport = .asyncHTTPClient(http)
        }
        let client = interceptor.httpClient(over: http)
        let response = try await client.execute(
            HTTPClientRequest(url: "https://api.example/prices"),
            timeout: .seconds(30)
        )
        let prices = try await response.body.collect(upTo: 1 << 20)
        // end snippet
        _ = prices
    }

    static func comment(_ interceptor: Interceptor, _ http: HTTPClient, _ url: String) async throws {
        // snippet: comment-async-http-client
        let client = interceptor.httpClient(over: http)
        let response = try await client.execute(HTTPClientRequest(url: url), timeout: .seconds(30))
        let page = try await response.body.collect(upTo: 1 << 20)
        // end snippet
        _ = page
    }

    @Suite("AsyncHTTPClient's calls in a test")
    struct StubbedCalls {
        @Test("are answered by stubs")
        func stubs() async throws {
            // snippet: async-http-client-stubs
            let stubs = try Stubs { Stub(.get("https://api.example/prices"), .json(["tea": 3])) }
            let client = try stubs.makeInterceptor().httpClient()
            let response = try await client.execute(
                HTTPClientRequest(url: "https://api.example/prices"),
                timeout: .seconds(30)
            )
            #expect(response.status == .ok)
            try stubs.verify()
            // end snippet
        }
    }
}
#endif
