import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationTesting

/// The examples in the comments of `WaystationTesting`, compiled and not run.
enum ScriptedExamples {
    static func origin(_ session: URLSession) async throws -> Data {
        // snippet: comment-scripted-origin
        let origin = try ScriptedOrigin { request in
            request.path == "/hello" ? .ok("hello") : .status(404)
        }
        let (data, _) = try await session.data(from: origin.url("/hello"))
        #expect(origin.requests.map(\.target) == ["/hello"])
        // end snippet
        return data
    }

    static func gate(_ session: URLSession) async throws -> Data {
        // snippet: comment-gate
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { _ in .ok("late").held(at: gate) }
        async let answer = session.data(from: origin.url())
        await origin.waitForRequests(1)  // the request is there, its answer held back
        gate.open()
        let (data, _) = try await answer
        // end snippet
        return data
    }

    static func webSocket() throws -> ScriptedOrigin {
        // snippet: comment-web-socket
        let origin = try ScriptedOrigin { _ in
            .webSocket([.expect("subscribe"), .send("1"), .send("2"), .close(code: 1001, reason: "restart")])
        }
        // end snippet
        return origin
    }

    private struct Order: Decodable {
        var item: String
    }

    private struct Receipt: Encodable {
        var item: String
    }

    static func json() throws -> ScriptedOrigin {
        // snippet: comment-json-origin
        let origin = try ScriptedOrigin { request in
            guard let order = try? request.json(as: Order.self) else { return .status(400) }
            return .json(Receipt(item: order.item), status: 201)
        }
        // end snippet
        return origin
    }

    static func responses(
        _ first: Data,
        _ second: Data,
        _ body: Data,
        _ gate: ScriptedOrigin.Gate
    ) -> [ScriptedOrigin.Response] {
        // snippet: comment-scripted-response
        let responses: [ScriptedOrigin.Response] = [
            .ok("hello", fields: ["Set-Cookie": "a=1", "Set-Cookie": "b=2"]),
            .stream([.bytes(first), .wait(gate), .bytes(second)]),  // chunked, the second half when the gate opens
            .truncated(body, after: 1_000),  // closes half-way
            .ok().held(at: gate),  // no byte before the gate opens
        ]
        // end snippet
        return responses
    }

    static func transport(_ directory: URL) throws -> Interceptor {
        // snippet: comment-scripted-transport
        let network = ScriptedTransport { request in
            request.url?.path == "/hello" ? .ok("hello") : .failed(.notConnectedToInternet)
        }
        let interceptor = try Interceptor {
            $0.rules = [.allow("https://shop.example/**", via: .cache(.networkFirst()))]
            $0.cache = try ResponseCache(directory: directory)
            $0.makeTransport = { _ in network }
        }
        // end snippet
        return interceptor
    }
}

#if NIO
extension ScriptedExamples {
    static func secured() async throws -> Data {
        // snippet: comment-secured-origin
        let origin = try await SecuredOrigin { request in
            .json(["path": request.path])
        }
        let session = try origin.makeSession()
        let (data, _) = try await session.data(from: origin.url("/orders"))
        #expect(origin.connectionVersions == ["h2"])
        // end snippet
        return data
    }
}
#endif
