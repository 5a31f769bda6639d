import Foundation
import FoundationNetworking
import Synchronization
import Testing
import Waystation
import WaystationTesting

@Suite("Tasks that only Foundation can load, with a transport of the app's own")
struct OwnTransportTaskTests {
    /// The real network, which must get no request unless the app allows it.
    private let origin: ScriptedOrigin

    init() throws { origin = try ScriptedOrigin { _ in .ok("from the network") } }

    private func session(_ configure: (inout Interceptor.Configuration) -> Void = { _ in }) throws -> URLSession {
        let network = ScriptedTransport { _ in .ok("scripted") }
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)]
            $0.makeTransport = { _ in network }
            configure(&$0)
        }
        return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    private var post: URLRequest {
        var request = URLRequest(url: origin.url("/up"))
        request.httpMethod = "POST"
        return request
    }

    @Test("fail with an error that suggests leavesTasksToFoundation, and do not reach the network")
    func refused() async throws {
        let session = try session()
        let upload = await #expect(throws: URLError.self) {
            try await session.upload(for: post, from: Data("a".utf8))
        }
        let reason = upload?.userInfo[NSUnderlyingErrorKey] as? WaystationError
        #expect(reason?.code == .transportNeedsDataTask)
        #expect(upload?.localizedDescription.contains("leavesTasksToFoundation") == true)
        #expect(origin.requestCount == 0)
    }

    @Test("are not downloads, which use the app's transport")
    func download() async throws {
        let (file, _) = try await session().download(from: origin.url("/down"))
        defer { try? FileManager.default.removeItem(at: file) }
        #expect(try Data(contentsOf: file) == Data("scripted".utf8))
        #expect(origin.requestCount == 0)
    }

    @Test("are left to Foundation when the app allows it, and when it has no transport of its own")
    func allowed() async throws {
        for session in [
            try session { $0.leavesTasksToFoundation = true },
            URLSession(
                configuration: .ephemeral.intercepted(
                    by: try Interceptor { $0.rules = [.allow("http://127.0.0.1:*/**", via: .network)] }
                )
            ),
        ] {
            let (data, _) = try await session.upload(for: post, from: Data("a".utf8))
            #expect(data == Data("from the network".utf8))
        }
        #expect(origin.requests.map(\.body) == [Data("a".utf8), Data("a".utf8)])
    }

    @Test("that no rule matches are left to Foundation")
    func untouched() async throws {
        let session = try session { $0.rules = [.allow("http://other.example/**", via: .network)] }
        let (data, _) = try await session.upload(for: post, from: Data("a".utf8))
        #expect(data == Data("from the network".utf8))
    }
}

@Suite("A scripted network that stays silent")
struct ScriptedSilenceTests {
    private let url = URL(string: "http://shop.test/")

    private func request(timeout: TimeInterval) throws -> URLRequest {
        var request = URLRequest(url: try #require(url))
        request.timeoutInterval = timeout
        return request
    }

    private func session(_ network: ScriptedTransport) throws -> URLSession {
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://shop.test/**", via: .network)]
            $0.makeTransport = { _ in network }
        }
        return URLSession(configuration: .ephemeral.intercepted(by: interceptor))
    }

    @Test(
        "fails a load at the request's time-out interval, before a response, within one and at a gate",
        arguments: [
            [], [.head(200)], [.head(200), .part(Data("a".utf8))], [.wait(ScriptedTransport.Gate())],
            [.head(200), .wait(ScriptedTransport.Gate()), .end],
        ] as [[ScriptedTransport.Step]]
    )
    func timesOut(steps: [ScriptedTransport.Step]) async throws {
        let timers = Timers()
        let network = ScriptedTransport(schedule: timers.schedule) { _ in ScriptedTransport.Answer(steps) }
        let session = try session(network)
        let request = try request(timeout: 7)
        let load = Task { try await session.data(for: request).0 }
        await timers.waitForCount(1)
        timers.fireAll()
        let error = await #expect(throws: URLError.self) { try await load.value }
        #expect(error?.code == .timedOut)
        #expect(timers.delays.allSatisfy { $0 == .seconds(7) })
    }

    @Test("does not fail a load by a timer from before the next step")
    func overtaken() async throws {
        let timers = Timers()
        let gate = ScriptedTransport.Gate()
        let network = ScriptedTransport(schedule: timers.schedule) { _ in .ok("late").held(at: gate) }
        let session = try session(network)
        async let load = session.data(for: request(timeout: 7))
        await timers.waitForCount(1)
        gate.open()
        let (data, _) = try await load
        timers.fireAll()
        #expect(data == Data("late".utf8))
    }
}

/// Timers that fire when the test calls ``fireAll()``.
private final class Timers: Sendable {
    private struct State {
        var works: [@Sendable () -> Void] = []
        var delays: [Duration] = []
        var waiters: [(count: Int, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())

    var delays: [Duration] { state.withLock(\.delays) }

    var schedule: ScriptedTransport.Schedule {
        { delay, work in
            let due = self.state.withLock { state in
                state.works.append(work)
                state.delays.append(delay)
                let count = state.delays.count
                defer { state.waiters.removeAll { $0.count <= count } }
                return state.waiters.filter { $0.count <= count }
            }
            for waiter in due { waiter.continuation.resume() }
        }
    }

    /// Waits until this many timers have been set.
    func waitForCount(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                let isDue = state.delays.count >= count
                if !isDue { state.waiters.append((count, continuation)) }
                return isDue
            }
            if isDue { continuation.resume() }
        }
    }

    /// Fires all timers.
    func fireAll() {
        let works = state.withLock { state in
            defer { state.works = [] }
            return state.works
        }
        for work in works { work() }
    }
}
