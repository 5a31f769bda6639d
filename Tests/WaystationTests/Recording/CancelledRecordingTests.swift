import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTestSupport
import WaystationTesting

@Suite("A recorder that wants cancelled loads", .timeLimit(.minutes(10)))
struct CancelledRecordingTests {
    /// Keeps what it gets.
    private final class Both: ExchangeRecorder {
        let bodyLimit: Int
        let ended = Mutex<[RecordedExchange]>([])
        let cancelled = Mutex<[RecordedExchange]>([])

        init(bodyLimit: Int) { self.bodyLimit = bodyLimit }

        func exchangeDidEnd(_ exchange: RecordedExchange) { ended.withLock { $0.append(exchange) } }
        func exchangeWasCancelled(_ exchange: RecordedExchange) { cancelled.withLock { $0.append(exchange) } }
    }

    @Test("gets each of them once, with what had arrived and no more of the body than it collects")
    func once() async throws {
        let gate = try ScriptedOrigin.Gate()
        let origin = try ScriptedOrigin { request in
            request.path == "/part"
                ? .stream([.bytes(Data("first".utf8)), .wait(gate)], fields: ["X-A": "1"]) : .ok("whole")
        }
        let (recorder, added) = (Both(bodyLimit: 4), Both(bodyLimit: 2))
        let directory = try TemporaryDirectory()
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .cache(.standard))]
            $0.cache = try ResponseCache(directory: directory.url)
            $0.recorder = recorder
        }
        let remove = interceptor.addRecorder(added)
        defer { remove() }
        let delegate = RecordingDelegate()
        let session = URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: delegate,
            delegateQueue: nil
        )
        let task = session.dataTask(with: origin.url("/part"))
        task.resume()
        #expect(await eventually { delegate.body.count == 5 })
        task.cancel()
        await delegate.completion()
        _ = try await session.data(from: origin.url("/whole"))
        for (recorder, body) in [(recorder, "firs"), (added, "fi")] {
            #expect(await eventually { recorder.cancelled.withLock { $0.count } == 1 })
            let cancelled = try #require(recorder.cancelled.withLock { $0.first })
            #expect(cancelled.request.url == origin.url("/part"))
            #expect(cancelled.response?.value(forHTTPHeaderField: "X-A") == "1")
            #expect(cancelled.bodyLength == 5)
            #expect(cancelled.body == Data(body.utf8))
            #expect(cancelled.rule == 0)
            #expect(cancelled.error?.code == .cancelled)
            #expect(recorder.ended.withLock { $0.map(\.request.url) } == [origin.url("/whole")])
        }
        gate.open()
    }
}
