#if NIO
import Foundation
import FoundationNetworking
import Testing
import WaystationTestSupport
import Waystation

@testable import WaystationNIO

@Suite("Everything at once", .timeLimit(.minutes(10)))
struct ChaosTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    private static let scripts: [[RawOrigin.Step]] = [
        [.request, .send(ok), .again], [.request, .send(ok), .request, .close], [.request, .close],
        [.request, .send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .close],
        [.request, .send("HTTP/1.1 200 OK\r\n\r\n"), .flood(String(repeating: "z", count: 30_000), times: 20), .close],
        [.requestHead, .send("HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno"), .close],
        [.request, .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), .again],
        [.close],
    ]

    private static func request(_ origin: RawOrigin, _ number: Int, _ random: inout SeededGenerator) -> URLRequest {
        URLRequest(origin.url("/\(number)")) {
            $0.timeoutInterval = 600
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                $0.httpMethod = "PUT"
                $0.httpBody = Data(count: 300_000)
            case 1:
                $0.httpMethod = "POST"
                $0.httpBodyStream = InputStream(data: Data(count: 200_000))
            default: break
            }
        }
    }

    @Test("Loads that are paused, resumed and cancelled at random, from several threads, end properly")
    func random() async throws {
        let origin = try RawOrigin { number in
            var random = SeededGenerator(seed: UInt64(number))
            return Self.scripts.randomElement(using: &random) ?? []
        }
        let transport = NIOTransport.plain()
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<8 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(1000 + thread))
                    var cancelled: [Recorder] = []
                    for number in 0..<60 {
                        let recorder = Recorder()
                        let exchange = transport.start(Self.request(origin, number, &random), receiver: recorder)
                        let isCancelled = Int.random(in: 0..<4, using: &random) == 0
                        for _ in 0..<Int.random(in: 0..<4, using: &random) {
                            exchange.pause()
                            if Bool.random(using: &random) { await Task.yield() }
                            exchange.resume()
                        }
                        if isCancelled {
                            exchange.cancel()
                            cancelled.append(recorder)
                        } else if Bool.random(using: &random) {
                            let outcome = await recorder.end()
                            #expect(outcome.wrongCalls == 0)
                            #expect(outcome.status != nil || outcome.error != nil)
                            #expect(outcome.code != .timedOut)
                        }
                    }
                    for recorder in cancelled { #expect(recorder.outcome.wrongCalls == 0) }
                }
            }
        }
        let sane = try RawOrigin { _ in [.request, .send(Self.ok)] }
        #expect(await transport.load(sane.url()).text == "ok")
    }
}
#endif
