import Dispatch
import FoundationNetworking

/// What must be known of the session that loads a task: its work queue, and who waits for the bytes of its tasks.
///
/// Reading it by reflection costs as much as half a load. So it is read once for each session, with its first task, and
/// stays on the session's work queue, where all of its tasks find it.
///
/// `@unchecked Sendable`: nothing of it changes, and the registry is read on the work queue alone, which guards it.
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

    /// The session of a task; nil where that cannot be read.
    ///
    /// To be called on the task's work queue.
    static func current(for task: URLSessionTask) -> LoadingSession? {
        if let known = DispatchQueue.getSpecific(key: key) { return known }
        guard let session = FoundationInternals.session(of: task),
            let queue = FoundationInternals.workQueue(of: session)
        else { return nil }
        let found = LoadingSession(session, queue)
        queue.setSpecific(key: key, value: found)
        return found
    }

    /// Who is told of the progress of a task of this session; nil when nobody is, or it cannot be read.
    ///
    /// To be called on the work queue.
    func listener(of task: URLSessionTask) -> Listener? {
        guard let session else { return nil }
        switch registry?.audience(of: task, in: session) {
        case .delegate(let delegate): return Listener(delegate: delegate, session: session, takesPieces: true)
        case .completionHandler(let delegate?):
            return Listener(delegate: delegate, session: session, takesPieces: false)
        case .completionHandler(nil), .nobody, nil: return nil
        }
    }
}

/// Who is told of a task's progress, and the session that tells.
struct Listener {
    /// The task's delegate, or that of the one call that made it.
    let delegate: any URLSessionTaskDelegate
    let session: URLSession
    /// Whether it gets the bytes as they come, and no completion handler gets them whole.
    let takesPieces: Bool
}
