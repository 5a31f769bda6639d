import Foundation
import FoundationNetworking

/// What a failed download is told when the waystation holds what it asked for.
enum DownloadAdvice {
    /// The error, or one that names the way out.
    ///
    /// On Linux a custom protocol cannot give a download task its file: with a completion handler there is
    /// none, with a delegate the process is killed. So downloads always go to the network, and where there is
    /// none, someone who knows that the file is held would be at a loss.
    static func explaining(_ error: any Error, of task: URLSessionTask, _ context: LoadContext) -> any Error {
        guard task is URLSessionDownloadTask, let failure = error as? URLError, failure.code != .cancelled,
            let request = task.originalRequest, context.engine.isHeld(request)
        else { return error }
        return URLError(
            failure.code,
            failing: request.url,
            """
            \(failure.localizedDescription) The waystation holds \(request.url?.absoluteString ?? "the file"), but on \
            Linux Foundation gives a custom protocol no way to hand a file to a download task: load it with a data \
            task, data(for:) for instance, and write the bytes yourself.
            """,
            underlying: WaystationError(.downloadUnavailable, "load it with a data task instead", cause: error)
        )
    }
}

extension Engine {
    /// Whether the rule of a request could answer it without the network, as far as that is known without I/O.
    fileprivate func isHeld(_ request: URLRequest) -> Bool {
        switch firstStep(for: request)?.step {
        case .answer, .lookUp: true
        case .forward(let forwarding): forwarding.fallback != nil
        case .handBack, .fail, nil: false
        }
    }
}
