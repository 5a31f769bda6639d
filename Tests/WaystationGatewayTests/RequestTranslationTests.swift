#if Gateway
import Foundation
import FoundationNetworking
import NIOHTTP1
import Testing
import WaystationTransport

@testable import WaystationGateway

@Suite("The request to an origin")
struct RequestTranslationTests {
    /// The request for a browser's request with a value of `Accept`.
    private func request(accept: String) throws -> URLRequest {
        let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/live", headers: ["Accept": accept])
        let url = try #require(URL(string: "https://shop.example/live"))
        return RequestTranslation(names: LocalNames(port: 8080)).request(head, for: url)
    }

    @Test("for a stream of events may be silent for a day, and any other as long as the session says")
    func silence() throws {
        let events = try request(accept: "text/event-stream")
        #expect(events.hasTimeoutInterval)
        #expect(events.timeoutInterval == 86_400)
        for accept in ["*/*", "application/json", "text/html, text/event-stream"] {
            #expect(try !request(accept: accept).hasTimeoutInterval)
        }
    }
}
#endif
