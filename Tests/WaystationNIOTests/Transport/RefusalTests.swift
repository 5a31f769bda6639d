#if NIO
import Foundation
import FoundationNetworking
import NIOCore
import Synchronization
import Testing
import WaystationTestSupport
import Waystation

@testable import WaystationNIO

@Suite("Servers that do not process requests", .timeLimit(.minutes(10)))
struct RefusalTests {
    /// The pauses of a transport.
    private final class Pauses: Sendable {
        private let list = Mutex<[TimeAmount]>([])

        var all: [TimeAmount] { list.withLock { $0 } }

        func transport() -> NIOTransport {
            NIOTransport.frames { pause, _, work in
                self.list.withLock { $0.append(pause) }
                work()
            }
        }
    }

    private static func ok(_ request: FrameOrigin.Request) -> [UInt8] {
        RawFrames.headers(request.stream, ScriptedServer.ok)
            + RawFrames.data(request.stream, Array(request.path.utf8), isLast: true)
    }

    @Test(
        "get six requests for one load, with pauses that grow",
        arguments: ["GET", "POST"],
        [
            FrameOrigin.Answer(RawFrames.reset(0, 7)), .init(RawFrames.goAway(last: 0)),
            .init(RawFrames.goAway(last: 0), closes: true), .init(RawFrames.goAway(last: 0, 11), closes: true),
        ]
    )
    func always(method: String, answer: FrameOrigin.Answer) async throws {
        let origin = try FrameOrigin { requests in
            guard let request = requests.last else { return .none }
            var answer = answer
            if answer.bytes[3] == 3 { answer.bytes.replaceSubrange(5..<9, with: RawFrames.number(request.stream)) }
            return answer
        }
        let pauses = Pauses()
        let outcome = await pauses.transport().load(
            URLRequest(origin.url("/x")) {
                $0.httpMethod = method
                if method == "POST" { $0.httpBody = Data("body".utf8) }
            }
        )
        #expect(outcome.code == .badServerResponse)
        #expect(outcome.error?.localizedDescription.contains("Try again.") == true)
        #expect(origin.requests.count == 6)
        #expect(
            origin.requests.allSatisfy { String(decoding: $0.body, as: UTF8.self) == (method == "POST" ? "body" : "") }
        )
        #expect(pauses.all == [.zero, .milliseconds(100), .milliseconds(200), .milliseconds(400), .milliseconds(800)])
    }

    @Test("A load that a server refuses while it answers others is tried longer, but not without end")
    func busy() async throws {
        let origin = try FrameOrigin { requests in
            guard let request = requests.last, request.path == "/refused" else { return .none }
            // Each refusal comes with the answer to another load.
            let tries = requests.count { $0.path == "/refused" }
            let held = requests.filter { $0.path != "/refused" }
            let answered = tries < 21 ? held[tries - 1..<tries] : held[20...]
            return .init(answered.flatMap(Self.ok), RawFrames.reset(request.stream, 7))
        }
        let pauses = Pauses()
        let transport = pauses.transport()
        let recorders = (0..<25).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() {
            _ = transport.start(URLRequest(origin.url("/\(number)")), receiver: recorder)
        }
        #expect(await eventually { origin.requests.count == 25 })
        #expect(await transport.load(origin.url("/refused")).code == .badServerResponse)
        for (number, recorder) in recorders.enumerated() { #expect(await recorder.end().text == "/\(number)") }
        #expect(origin.requests.count { $0.path == "/refused" } == 21)
        #expect(pauses.all.count == 20 && pauses.all.last == .seconds(1))
        #expect(Set(origin.requests.map(\.connection)).count == 1)
    }

    @Test("A server that ends each connection after its first answer gets all loads at once on the next one")
    func oneForEachConnection() async throws {
        let origin = try FrameOrigin { requests in
            guard requests.count == 1, let request = requests.first else { return .none }
            return .init(Self.ok(request), RawFrames.goAway(last: request.stream), closes: true)
        }
        let pauses = Pauses()
        let transport = pauses.transport()
        let recorders = (0..<40).map { _ in Recorder() }
        for (number, recorder) in recorders.enumerated() {
            _ = transport.start(URLRequest(origin.url("/\(number)")) { $0.httpMethod = "POST" }, receiver: recorder)
        }
        for (number, recorder) in recorders.enumerated() { #expect(await recorder.end().text == "/\(number)") }
        #expect(pauses.all.allSatisfy { $0 == .zero })
    }

    @Test("A load that waits for its next try ends by its time-out")
    func timeOut() async throws {
        let origin = try FrameOrigin { .init(RawFrames.reset($0.last?.stream ?? 0, 7)) }
        let transport = NIOTransport.frames { _, _, _ in }
        // On a slow machine, the time can be over before the request has arrived.
        for limit in [0.2, 2, 20, 200] where origin.requests.isEmpty {
            let outcome = await transport.load(URLRequest(origin.url("/\(limit)")) { $0.timeoutInterval = limit })
            #expect(outcome.code == .timedOut)
        }
        let paths = origin.requests.map(\.path)
        #expect(!paths.isEmpty && Set(paths).count == paths.count)
    }

    @Test("A load that waits for its next try can be cancelled")
    func cancel() async throws {
        // The next try would need another connection.
        let origin = try FrameOrigin { _ in .init(RawFrames.goAway(last: 0), closes: true) }
        let other = try FrameOrigin { $0.last.map { .init(Self.ok($0)) } ?? .none }
        let (waiting, waits) = AsyncStream<NIOLoopBound<() -> Void>>.makeStream()
        let transport = NIOTransport.frames { _, loop, work in waits.yield(NIOLoopBound(work, eventLoop: loop)) }
        let recorder = Recorder()
        let exchange = transport.start(URLRequest(origin.url("/cancelled")), receiver: recorder)
        var next = waiting.makeAsyncIterator()
        let work = try #require(await next.next())
        exchange.cancel()
        // The event loop takes the cancel first.
        try await work.eventLoop.submit { work.value() }.get()
        // A load that begins afterwards ends later than a connection to this machine is made.
        #expect(await transport.load(other.url("/next")).text == "/next")
        #expect(origin.requests.map(\.path) == ["/cancelled"])
        #expect(origin.connectionCount == 1)
        #expect(!recorder.outcome.hasEnded)
    }
}
#endif
