import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import Waystation

@Suite("The session that loads a task")
struct LoadingSessionTests {
    private let url = URL(fileURLWithPath: "/")

    private func onWorkQueue<Result>(of task: URLSessionTask, _ body: () -> Result) throws -> Result {
        try #require(FoundationInternals.workQueue(of: task)).sync(execute: body)
    }

    @Test("is found once for each URLSession, and by each of its tasks")
    func foundOnce() throws {
        let session = URLSession(configuration: .default)
        let (first, second) = (session.dataTask(with: url), session.downloadTask(with: url))
        let found = try #require(try onWorkQueue(of: first) { LoadingSession.current(for: first) })
        #expect(try onWorkQueue(of: second) { LoadingSession.current(for: second) } === found)
        #expect(found.session === session)
        #expect(found.workQueue?.label.hasPrefix("URLSession<") == true)
        let other = URLSession(configuration: .default).dataTask(with: url)
        #expect(try onWorkQueue(of: other) { LoadingSession.current(for: other) } !== found)
    }

    @Test("returns work to the queue on which the work began")
    func wayBack() throws {
        let session = URLSession(configuration: .default)
        let task = session.dataTask(with: url)
        let (found, queue) = try onWorkQueue(of: task) {
            let found = LoadingSession.current(for: task)
            return (found, LoadingQueue(of: task, in: found))
        }
        #expect(queue.isKnown)
        let arrived = DispatchSemaphore(value: 0)
        let isThere = Mutex(false)
        queue.hop {
            isThere.withLock { $0 = LoadingSession.current(for: task) === found }
            arrived.signal()
        }
        arrived.wait()
        let hasArrived = isThere.withLock { $0 }
        #expect(hasArrived)
    }

    @Test("has a listener for tasks with a delegate, and for no others")
    func listeners() throws {
        let delegate = RecordingDelegate()
        let session = URLSession(configuration: .default, delegate: delegate, delegateQueue: nil)
        let (delegated, handled) = (session.dataTask(with: url), session.dataTask(with: url) { _, _, _ in })
        func listener(of task: URLSessionTask) throws -> Listener? {
            try onWorkQueue(of: task) { LoadingSession.current(for: task)?.listener(of: task) }
        }
        let found = try #require(try listener(of: delegated))
        #expect(found.delegate === delegate && found.session === session && found.takesPieces)
        let unheard = try listener(of: handled)
        #expect(unheard == nil)
    }

    /// Only a delegate that gets a task's response is called about it.
    @Test("loses no operation of the app that is queued as a response is replaced", arguments: [false, true])
    func foreignOperation(hasDelegate: Bool) async throws {
        let session = URLSession(configuration: .default, delegate: RecordingDelegate(), delegateQueue: nil)
        let task = hasDelegate ? session.dataTask(with: url) : session.dataTask(with: url) { _, _, _ in }
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 401, httpVersion: "HTTP/1.1", headerFields: [:])
        )
        let isLost = try onWorkQueue(of: task) {
            let found = LoadingSession.current(for: task)
            let foreign = BlockOperation()
            ResponseAnnouncement.replace(
                with: response,
                for: task,
                in: found?.session,
                listener: { found?.listener(of: task) },
                receive: { _ in
                    // Foundation's own call, for a task whose response a delegate gets.
                    if hasDelegate { session.delegateQueue.addOperation {} }
                    session.delegateQueue.addOperation(foreign)
                }
            )
            return foreign.isCancelled
        }
        #expect(!isLost)
    }

    @Test("does not keep its URLSession alive", arguments: [false, true])
    func lifetime(isPlain: Bool) async throws {
        let origin = try ScriptedOrigin { _ in .ok("x") }
        defer { origin.stop() }
        // With external links, the interceptor leaves no load to Foundation's own loader.
        let interceptor = try Interceptor {
            $0.rules = [.allow("http://*:*/**", via: .network)]
            $0.externalLinks = ExternalLinks(schemes: ["mailto"]) { _ in }
        }
        weak var session: URLSession?
        func load() async throws {
            let made = URLSession(configuration: isPlain ? .default : .default.intercepted(by: interceptor))
            session = made
            _ = try await made.data(from: origin.url("/"))
            made.finishTasksAndInvalidate()
        }
        try await load()
        #expect(await eventually { session == nil })
    }
}
