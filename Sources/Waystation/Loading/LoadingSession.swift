import Dispatch
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#else
import Foundation
#endif

/// The values that must be known of a task's session: its work queue, and the recipients of its tasks' bytes.
///
/// Reading them by reflection takes half the time of a load. So they are read once for each session, with its first
/// task, and are stored on the session's work queue, where all of its tasks find them.
///
/// `@unchecked Sendable`: its values never change, and the registry is read on the work queue alone, which guards it.
final class LoadingSession: @unchecked Sendable {
    private(set) weak var session: URLSession?
    /// The queue holds this object, so this must not hold the queue.
    private(set) weak var workQueue: DispatchQueue?
    private let registry: FoundationInternals.TaskRegistry?

    private init(_ session: URLSession, _ workQueue: DispatchQueue) {
        self.session = session
        self.workQueue = workQueue
        registry = FoundationInternals.TaskRegistry(of: session)
    }

    private static let key = DispatchSpecificKey<LoadingSession>()

    /// The session of a task; nil when it cannot be read.
    ///
    /// Call it on the task's work queue.
    static func current(for task: URLSessionTask) -> LoadingSession? {
        if let known = DispatchQueue.getSpecific(key: key) { return known }
        guard let session = FoundationInternals.session(of: task),
            let queue = FoundationInternals.workQueue(of: session)
        else { return nil }
        let found = LoadingSession(session, queue)
        queue.setSpecific(key: key, value: found)
        return found
    }

    /// The delegate that gets the progress of a task of this session; nil if the task has no delegate, or if the delegate
    /// cannot be read.
    ///
    /// Call it on the work queue.
    func listener(of task: URLSessionTask) -> Listener? {
        guard let session else { return nil }
        switch registry?.audience(of: task, in: session) {
        case .delegate(let delegate): return Listener(delegate: delegate, session: session, takesPieces: true)
        case .completionHandler(let delegate?):
            return Listener(delegate: delegate, session: session, takesPieces: false)
        case .completionHandler(nil), .noRecipient, nil: return nil
        }
    }
}

/// The delegate that gets a task's progress, and the session that calls it.
struct Listener {
    /// The task's delegate, or that of the one call that made the task.
    let delegate: any URLSessionTaskDelegate
    let session: URLSession
    /// Whether the delegate gets the bytes as they arrive, and no completion handler gets the whole body.
    let takesPieces: Bool
}
