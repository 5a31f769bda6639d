#if Gateway
import Foundation
import Testing
import Waystation
import WaystationGateway
import WaystationNIO
import WaystationTesting

@Suite("Bodies of requests through a gateway", .timeLimit(.minutes(10)))
struct UploadTests {
    @Test(
        "have their length at the origin by the engine on SwiftNIO, whether they were kept in memory or in a file",
        arguments: [10, 3 << 20],
        [true, false]
    )
    func length(length: Int, isChunked: Bool) async throws {
        let origin = try ScriptedOrigin { .ok("\($0.bodyLength)") }
        let fixture = try await GatewayFixture(origin: origin) {
            $0.bodySpool = BodySpool(memory: .kibibytes(64), directory: FileManager.default.temporaryDirectory)
        } interceptor: {
            $0.transport = .nio
        }
        let body = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        let connection = try RawConnection(fixture.port)
        let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: \(length)"
        connection.send(
            "POST /form HTTP/1.1\r\nHost: \(fixture.name(of: origin))\r\nConnection: close\r\n\(framing)\r\n\r\n"
        )
        if isChunked { connection.send(String(length, radix: 16) + "\r\n") }
        connection.send(body)
        if isChunked { connection.send("\r\n0\r\n\r\n") }
        #expect(try #require(RawResponse(await connection.read())).text == "\(length)")
        let request = try #require(origin.requests.first)
        #expect(request.body == body)
        #expect(request.value(of: "Content-Length") == "\(length)")
        #expect(request.value(of: "Transfer-Encoding") == nil)
    }
}
#endif
