import Foundation
import Testing
import Waystation
import WaystationTesting

@Suite("An interim response (RFC 9110 §15.2)")
struct InterimResponseTests {
    @Test(
        "is skipped by a load that is stored: the final response is delivered, and comes from the cache the next time",
        arguments: ["100 Continue", "103 Early Hints"]
    )
    func skipped(interim: String) async throws {
        let final = "HTTP/1.1 200 OK\r\nX-Final: 1\r\nContent-Length: 5\r\n\r\nhello"
        let fixture = try CachingFixture(.cacheFirst(for: .days(1))) { _ in
            .raw(Data("HTTP/1.1 \(interim)\r\nX-Interim: 1\r\n\r\n\(final)".utf8))
        }
        for _ in 0..<2 {
            let got = try await fixture.load()
            #expect(got.status == 200)
            #expect(got.body == "hello")
            #expect(got["X-Final"] == "1")
            #expect(got["X-Interim"] == nil)
        }
        #expect(fixture.origin.requestCount == 1)
    }
}
