import Foundation
import HTTPTypes
import WaystationHTTP

/// The examples in the comments of `WaystationHTTP/Caching`, compiled and not run.
enum CachingExamples {
    static func status(of response: HTTPResponse) -> HTTPResponse {
        var response = response
        // snippet: comment-cache-status
        CacheStatus("Waystation", .hit, timeToLive: .seconds(376)).append(to: &response.headerFields)
        // Cache-Status: Origin-Side; fwd=stale, Waystation; hit; ttl=376
        // end snippet
        return response
    }

    /// The client's own store of responses.
    protocol Store: Sendable {
        func variants(of request: HTTPRequest) async throws -> [Stored]
        func add(_ head: StoredHead, _ content: Data) async throws
        func make(_ changes: [StoredChange], to stored: [Stored]) async throws
        func remove(_ stored: [Stored]) async throws
        func remove(_ urls: [String]) async throws
    }

    protocol Engine: Sendable {
        func send(
            _ request: HTTPRequest
        ) async throws -> (response: HTTPResponse, content: Data, sent: Date, received: Date)
    }

    struct Stored {
        var head: StoredHead
        var content: Data

        func content(_ part: StoredSelection.Content) -> Data {
            switch part {
            case .none: Data()
            case .whole: content
            case .bytes(let range): Data(content[range])
            }
        }
    }

    struct Client {
        let store: any Store
        let engine: any Engine

        // snippet: comment-caching-rules
        func load(_ request: HTTPRequest) async throws -> (HTTPResponse, Data) {
            let stored = try await store.variants(of: request)  // all variants of the URL
            switch ReuseDecision(for: request, among: stored.map(\.head), now: .now) {
            case .fresh(let selection), .stale(let selection, _, nil):
                return (selection.response, stored[selection.index].content(selection.content))
            case .stale(let selection, _, let revalidation?):
                Task { try await validate(revalidation, stored) }  // stale-while-revalidate
                return (selection.response, stored[selection.index].content(selection.content))
            case .revalidate(let revalidation):
                return try await validate(revalidation, stored)
            case .gatewayTimeout:
                return (HTTPResponse(status: .gatewayTimeout), Data())  // only-if-cached
            case .forward:
                return try await forward(request)
            }
        }

        func forward(_ request: HTTPRequest) async throws -> (HTTPResponse, Data) {
            let (response, content, sent, received) = try await engine.send(request)
            try await store.remove(Invalidation(after: request, response: response).urls)
            let decision = StoringDecision(of: response, to: request, requestTime: sent, responseTime: received)
            if case .store(let head) = decision { try await store.add(head, content) }
            return (response, content)
        }

        func validate(_ revalidation: Revalidation, _ stored: [Stored]) async throws -> (HTTPResponse, Data) {
            guard let (response, content, sent, received) = try? await engine.send(revalidation.request) else {
                guard let selection = revalidation.standIn(for: .unreachable, now: .now) else {
                    return (HTTPResponse(status: .gatewayTimeout), Data())
                }
                return (selection.response, stored[selection.index].content(selection.content))
            }
            switch ValidationOutcome(of: response, to: revalidation, requestTime: sent, responseTime: received) {
            case .freshened(let selection, let changes):  // 304
                try await store.make(changes, to: stored)
                return (selection.response, stored[selection.index].content(selection.content))
            case .replaced(let decision, let outdated):  // a response of its own
                try await store.remove(outdated.map { stored[$0] })
                if case .store(let head) = decision { try await store.add(head, content) }
                return (response, content)
            case .standIn(let selection):  // stale-if-error
                return (selection.response, stored[selection.index].content(selection.content))
            case .passOn(let changes):  // for the client alone
                try await store.make(changes, to: stored)
                return (response, content)
            case .reload(let request):  // a 304 that fits nothing stored
                return try await forward(request)
            }
        }
        // end snippet
    }
}
