#if Gateway
import Foundation
import FoundationNetworking
import NIOHTTP1
import Testing
import Waystation

@testable import WaystationGateway

@Suite("The request to an origin")
struct RequestTranslationTests {
    /// The request for a browser's request with a value of `Accept`.
    private func request(_ method: HTTPMethod = .GET, accept: String) throws -> URLRequest {
        let head = HTTPRequestHead(version: .http1_1, method: method, uri: "/live", headers: ["Accept": accept])
        let url = try #require(URL(string: "https://shop.example/live"))
        return RequestTranslation(names: LocalNames(port: 8080), silenceBetweenEvents: 900).request(head, for: url)
    }

    @Test("for a stream of events has the time limit of a tunnel, and any other that of the session")
    func silence() throws {
        let events = try request(accept: "text/event-stream")
        #expect(events.hasTimeoutInterval)
        #expect(events.timeoutInterval == 900)
        for accept in ["*/*", "application/json", "text/html, text/event-stream"] {
            #expect(try !request(accept: accept).hasTimeoutInterval)
        }
        #expect(try !request(.POST, accept: "text/event-stream").hasTimeoutInterval)
    }

    @Test("does not say for whom a proxy asks, unless the app asks for it")
    func forwarded() throws {
        let fields = [
            "Forwarded", "forwarded", "X-Forwarded-For", "x-forwarded-host", "X-Forwarded-Proto", "X-Forwarded",
            "X-FORWARDED-ANYTHING", "X-Real-IP",
        ]
        let url = try #require(URL(string: "https://shop.example/"))
        for name in fields {
            let head = HTTPRequestHead(
                version: .http1_1,
                method: .GET,
                uri: "/",
                headers: [name: "for=10.0.0.1", "X-Forward": "kept"]
            )
            var translation = RequestTranslation(names: LocalNames(port: 8080), silenceBetweenEvents: 900)
            #expect(translation.request(head, for: url).allHTTPHeaderFields == ["X-Forward": "kept"], "\(name)")
            translation.passesForwardedFields = true
            #expect(translation.request(head, for: url).value(forHTTPHeaderField: name) == "for=10.0.0.1")
        }
    }
}
#endif
