import Foundation
import FoundationNetworking
import Synchronization
import Testing

@testable import Waystation

/// These tests fail when a toolchain moves, renames or removes the count, and then a resume may end the process.
@Suite("A task whose load has ended", .timeLimit(.minutes(10)))
struct EndedTaskTests {
    private let url: URL
    private let ends = Ends()
    private let session: URLSession

    init() throws {
        url = try #require(URL(string: "http://ended.test/"))
        let interceptor = try Interceptor { $0.rules = [.block("http://ended.test/**")] }
        session = URLSession(
            configuration: .ephemeral.intercepted(by: interceptor),
            delegate: ends,
            delegateQueue: nil
        )
    }

    @Test("is not started again by a resume that meets its end")
    func resumed() async {
        for number in 1...20_000 {
            let task = session.dataTask(with: url)
            task.resume()
            // The second resume comes later each time, so that some meet the end.
            for _ in 0..<(number % 50) { _ = task.state }
            task.suspend()
            task.resume()
        }
        session.finishTasksAndInvalidate()
        await ends.ofSession()
        #expect(ends.ofTasks.count == 20_000)
        #expect(Set(ends.ofTasks.map(\.task)).count == 20_000)
    }

    @Test("has so many suspensions that no resume starts it")
    func suspensions() async {
        let task = session.dataTask(with: url)
        #expect(EndedTask.current.suspensions(of: task) == 1)
        task.resume()
        session.finishTasksAndInvalidate()
        await ends.ofSession()
        #expect(ends.ofTasks.map(\.suspensions) == [EndedTask.suspensions])
    }

    @Test("with a 401, or without a known count, is left alone")
    func leftAlone() {
        let task = URLSessionTask()
        EndedTask.current.keepFromResuming(task, status: 401)
        EndedTask(property: "noSuchCount").keepFromResuming(task)
        #expect(EndedTask(property: "noSuchCount").suspensions(of: task) == nil)
        #expect(EndedTask.current.suspensions(of: task) == 1)
    }
}

/// Records the ends of a session's tasks, and waits for that of the session.
private final class Ends: NSObject, URLSessionTaskDelegate {
    private let tasks = Mutex<[(task: Int, suspensions: Int?)]>([])
    private let (sessions, session) = AsyncStream.makeStream(of: Void.self)

    var ofTasks: [(task: Int, suspensions: Int?)] { tasks.withLock(\.self) }

    func ofSession() async { for await _ in sessions { break } }

    func urlSession(_: URLSession, task: URLSessionTask, didCompleteWithError _: (any Error)?) {
        tasks.withLock { $0.append((task.taskIdentifier, EndedTask.current.suspensions(of: task))) }
    }

    func urlSession(_: URLSession, didBecomeInvalidWithError _: (any Error)?) { session.yield() }
}
