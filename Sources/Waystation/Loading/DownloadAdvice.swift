import Foundation
import WaystationFileSystem
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The error that a failed download gets when the library holds the requested file.
enum DownloadAdvice {
    /// Passes the error on, or an error that names another way to load the file.
    ///
    /// On Linux a custom protocol cannot give a download task its file: a completion handler gets none, and with a
    /// delegate the process is killed. So downloads always use the network. Without a network, a developer who knows
    /// that the file is available locally could not explain the failure.
    ///
    /// `completion` is called once. It is called at once unless the disk must be read to find out whether the file is
    /// held.
    static func explain(
        _ error: any Error,
        of task: URLSessionTask,
        _ context: LoadContext,
        _ completion: @escaping @Sendable (any Error) -> Void
    ) {
        guard task is URLSessionDownloadTask, let failure = error as? URLError, failure.code != .cancelled,
            let request = task.originalRequest,
            let visit = context.stations.first(request)
        else { return completion(error) }
        isHeld(visit.verdict, context.environment.now()) { isHeld in
            completion(isHeld ? advice(after: failure, for: request) : failure)
        }
    }

    private static func advice(after failure: URLError, for request: URLRequest) -> URLError {
        URLError(
            failure.code,
            failing: request.url,
            "\(failure.localizedDescription) The waystation holds \(name(of: request)), but \(reason)",
            underlying: WaystationError(.downloadUnavailable, reason, cause: failure)
        )
    }

    /// The error for a task that only Foundation could load, from the network, when the task's rule forbids the
    /// network.
    static func refusal(of task: URLSessionTask, _ request: URLRequest) -> URLError {
        let what = task is URLSessionDownloadTask ? reason : "a \(type(of: task)) needs the network"
        return URLError(
            .resourceUnavailable,
            failing: request.url,
            "the rule for \(name(of: request)) keeps loads from the network, and \(what)",
            underlying: WaystationError(.downloadUnavailable, what)
        )
    }

    /// The error for a task that only Foundation could load, when the app has a transport of its own.
    static func passesTransport(_ task: URLSessionTask, _ request: URLRequest) -> URLError {
        let message = """
            \(name(of: request)) was not loaded: only Foundation can load a \(type(of: task)), and it would \
            bypass the transport that makeTransport made. Use a data task, or set leavesTasksToFoundation
            """
        return URLError(
            .resourceUnavailable,
            failing: request.url,
            message,
            underlying: WaystationError(.transportNeedsDataTask, message)
        )
    }

    private static func name(of request: URLRequest) -> String { request.url?.shown ?? "the file" }

    private static let reason = """
        on Linux Foundation gives a custom protocol no way to pass a file to a download task: load it with a data \
        task, data(for:) for instance, and write the bytes yourself
        """

    /// Whether a verdict ends in an answer without the network.
    private static func isHeld(_ verdict: Verdict, _ now: Date, _ completion: @escaping @Sendable (Bool) -> Void) {
        switch verdict {
        case .answer(let answer): completion(!answer.isMadeHere)
        case .fetch(_, let fetch): completion(fetch.standIn(now: now) != nil)
        case .send, .carry, .handBack, .spool, .open, .fail, .wait: completion(false)
        case .lookUp(let lookUp): lookUp.run { isHeld($0, now, completion) }
        }
    }
}
