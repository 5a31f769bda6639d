import Foundation
import FoundationNetworking
import HTTPTypes
import Waystation

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
