import Dispatch
import Foundation
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The way back to the session's work queue, the only place where a protocol's client may be called.
///
/// A call from any other thread reads the session's task registry unguarded; under load the process crashes within
/// seconds.
struct LoadingQueue: Sendable {
    private let task: URLSessionTask
    private let queue: DispatchQueue?

    /// Finds the queue of a task.
    ///
    /// - Parameters:
    ///   - task: The task.
    ///   - session: The task's session if it is known; otherwise the task's own queue is read.
    init(of task: URLSessionTask, in session: LoadingSession? = nil) {
        self.task = task
        queue = session?.workQueue ?? FoundationInternals.workQueue(of: task)
    }

    /// Whether work that is passed to ``hop(_:)`` is certain to run.
    var isKnown: Bool { queue != nil }

    /// Runs `work` on the work queue; `work` must check whether the load has ended meanwhile.
    ///
    /// If the queue cannot be read, the task is suspended and resumed instead. That uses public API only, and takes a
    /// few tens of microseconds longer. It makes the session call `startLoading` of the same protocol again on the
    /// right queue, which then delivers what is pending; `work` itself does not run.
    func hop(_ work: @escaping @Sendable () -> Void) {
        if let queue {
            if !DeliveryBatch.add(work, for: queue) { queue.async(execute: work) }
            return
        }
        // Both calls wait for the work queue, so they must not be made on the current queue, which may be that one.
        DispatchQueue.global().async { [task] in
            task.suspend()
            task.resume()
        }
    }
}
