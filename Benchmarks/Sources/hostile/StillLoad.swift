import Foundation
import FoundationNetworking
import Measuring
import Synchronization
import Waystation
import WaystationNIO

/// One load whose delegate does nothing from the first bytes of the body on, until it is released.
final class StillLoad: NSObject, URLSessionDataDelegate {
    private struct State {
        var task: URLSessionDataTask?
        var received = 0
        var end: URLError.Code?
    }

    private let state = Mutex(State())
    private let released = DispatchSemaphore(value: 0)
    private let suspends: Bool

    /// - Parameters:
    ///   - url: The URL of an endless body.
    ///   - interceptor: The way to load it.
    ///   - suspends: Whether the task is suspended at the first bytes, instead of keeping its delegate busy.
    init(_ url: URL, by interceptor: Interceptor, suspends: Bool) {
        self.suspends = suspends
        super.init()
        let configuration = URLSessionConfiguration.ephemeral.intercepted(by: interceptor)
        let session = URLSession(configuration: configuration, delegate: self, delegateQueue: nil)
        let task = session.dataTask(with: url)
        session.finishTasksAndInvalidate()
        state.withLock { $0.task = task }
    }

    func begin() { state.withLock(\.task)?.resume() }

    func cancel() { state.withLock(\.task)?.cancel() }

    /// Lets the delegate return.
    func release() { released.signal() }

    /// The bytes that the delegate got.
    var received: Int { state.withLock(\.received) }

    /// The error at the end of the load; nil until then.
    var end: URLError.Code? { state.withLock(\.end) }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        let isFirst = state.withLock { state in
            state.received += data.count
            return state.received == data.count
        }
        guard isFirst else { return }
        if suspends { dataTask.suspend() } else { released.wait() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        state.withLock { $0.end = error.map { ($0 as? URLError)?.code ?? .unknown } ?? .callIsActive }
    }
}
