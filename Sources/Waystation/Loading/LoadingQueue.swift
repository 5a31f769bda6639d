import Dispatch
import Foundation
import FoundationNetworking

/// The way back to the session's work queue, the only place where a protocol's client may be called.
///
/// Calling it from any other thread reads the session's task registry unguarded; under load the process
/// crashes within seconds.
struct LoadingQueue: Sendable {
    private let task: URLSessionTask
    private let queue: DispatchQueue?

    /// The way back to the queue of a task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - session: Its session, where that is known; else the task's own queue is looked for.
    init(of task: URLSessionTask, in session: LoadingSession? = nil) {
        self.task = task
        queue = session?.workQueue ?? FoundationInternals.workQueue(of: task)
    }

    /// Whether what is given to ``hop(_:)`` runs for certain.
    var isKnown: Bool { queue != nil }

    /// Runs `work` on the work queue; it must check what became of the load meanwhile.
    ///
    /// Where the queue cannot be read, the task is suspended and resumed instead: public API, dearer by a
    /// few tens of microseconds, and it makes the session call `startLoading` of the same protocol again on
    /// the right queue, which then does what is pending.
    func hop(_ work: @escaping @Sendable () -> Void) {
        if let queue { return queue.async(execute: work) }
        // Both wait for the work queue, so they must leave whatever queue this is.
        DispatchQueue.global().async { [task] in
            task.suspend()
            task.resume()
        }
    }
}
