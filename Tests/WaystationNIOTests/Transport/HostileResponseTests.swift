#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport

@testable import WaystationNIO

@Suite("Hostile responses", .timeLimit(.minutes(5)))
struct HostileResponseTests {
    /// The bytes in several writes, so that the parser is stopped at any place.
    private static func script(_ seed: UInt64) -> [RawOrigin.Step] {
        var random = SeededGenerator(seed: seed)
        var rest = HostileHTTP1.pieces(using: &random)[...]
        var steps: [RawOrigin.Step] = [.request]
        while !rest.isEmpty {
            let count = Bool.random(using: &random) ? rest.count : Int.random(in: 1...rest.count, using: &random)
            steps.append(.sendBytes(Array(rest.prefix(count))))
            rest = rest.dropFirst(count)
        }
        return steps + [.close]
    }

    @Test("3,000 responses put together at random each end with an answer or an error", arguments: 0..<30)
    func random(block: Int) async throws {
        let origin = try RawOrigin { number in Self.script(UInt64(block * 1_000_003 + number)) }
        let transport = NIOTransport.plain()
        let methods = ["GET", "POST", "HEAD", "PUT"]
        let recorders = (0..<100).map { number in
            let recorder = Recorder()
            let request = URLRequest(origin.url("/\(number)")) {
                $0.httpMethod = methods[number % methods.count]
                $0.timeoutInterval = 120
            }
            _ = transport.start(request, receiver: recorder)
            return recorder
        }
        for (number, recorder) in recorders.enumerated() {
            let outcome = await recorder.end()
            #expect(outcome.wrongCalls == 0, "block \(block), exchange \(number)")
            #expect(outcome.code != .timedOut, "block \(block), exchange \(number)")
            #expect(outcome.status != nil || outcome.error != nil, "block \(block), exchange \(number)")
        }
        // The loop is still alive.
        let sane = try RawOrigin { _ in [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")] }
        #expect(await transport.load(sane.url()).text == "ok")
    }
}
#endif
