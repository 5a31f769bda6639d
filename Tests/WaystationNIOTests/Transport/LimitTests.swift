#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Limits", .timeLimit(.minutes(10)))
struct LimitTests {
    private static let long = String(repeating: "x", count: 1 << 10)

    @Test("A head of 200 KB is accepted")
    func largeHead() async throws {
        let fields = (0..<200).map { "X-\($0): \(Self.long)\r\n" }.joined()
        let origin = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\(fields)\r\n")] }
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect(outcome.error == nil)
        #expect(outcome.fields.count == 201)
    }

    /// Starts of responses that go on for ever.
    private static let endless: [(start: String, rest: String)] = [
        ("HTTP/1.1 200 OK\r\nX: ", long), ("HTTP/1.1 200 OK\r\n", "X: \(long)\r\n"), ("HTTP/1.1 200 ", long),
        ("HTTP/1.1 200 OK\r\n", "A:\r\n"), ("", "HTTP/1.1 103 Early Hints\r\n\r\n"),
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", long),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "X: \(long)\r\n"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nX: ", long),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", "0"), ("", "\r\n"),
    ]

    @Test("Responses without an end before the body, or after it, fail", arguments: 0..<endless.count)
    func endlessHead(number: Int) async throws {
        let (start, rest) = Self.endless[number]
        let repeated = rest.utf8.count < 100 ? String(repeating: rest, count: 100) : rest
        let origin = try RawOrigin { _ in [.request, .send(start), .flood(repeated, times: 1 << 20)] }
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect(outcome.code == .unknown || outcome.code == .unsupportedURL)
        #expect(outcome.body.isEmpty)
        #expect(await eventually { origin.closedCount == 1 })
        #expect(origin.floodedBytes < 16 << 20)
    }

    @Test("Up to 32 interim responses are skipped; one more fails the load", arguments: [(32, true), (33, false)])
    func interim(count: Int, isAccepted: Bool) async throws {
        let interims = String(repeating: "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n", count: count)
        let origin = try RawOrigin { _ in [.request, .send(interims + "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")] }
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect((outcome.error == nil) == isAccepted)
        #expect(outcome.status == (isAccepted ? 200 : nil))
    }

    @Test("The largest Content-Length does no harm")
    func largestLength() async throws {
        let origin = try RawOrigin { _ in
            [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nabc"), .close]
        }
        let outcome = await NIOTransport.plain().load(origin.url())
        #expect(outcome.text == "abc")
        #expect(outcome.code == .unknown)
    }
}
#endif
