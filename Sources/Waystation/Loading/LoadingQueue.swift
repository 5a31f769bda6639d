import Dispatch
import Foundation
import FoundationNetworking

/// The way back to the session's work queue, the only place where a protocol's client may be called.
///
/// Calling it from any other thread reads the session's task registry unguarded; under load the process
/// crashes within seconds.
enum LoadingQueue {
    /// Runs `work` on the task's work queue; it must check what became of the load meanwhile.
    ///
    /// Where the queue cannot be read, the task is suspended and resumed instead: public API, dearer by a
    /// few tens of microseconds, and it makes the session call `startLoading` of the same protocol again on
    /// the right queue, which then does what is pending.
    static func hop(for task: URLSessionTask, _ work: @escaping @Sendable () -> Void) {
        if let queue = FoundationInternals.workQueue(of: task) { return queue.async(execute: work) }
        // Both wait for the work queue, so they must leave whatever queue this is.
        DispatchQueue.global().async {
            task.suspend()
            task.resume()
        }
    }
}
