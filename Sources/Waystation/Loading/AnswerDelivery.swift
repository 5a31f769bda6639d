import Foundation
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Delivers to a task, within `startLoading`, an answer that needs no journey.
enum AnswerDelivery {
    /// Delivers the answer at once, if the task has no delegate, which may decide about the response.
    ///
    /// It does not deliver redirects and refusals of tokens, after which the load sends further requests.
    ///
    /// - Returns: False when the load must begin a journey.
    static func deliverInline(_ answer: Answer, to client: LoadClient, _ context: LoadContext) -> Bool {
        guard case .data(let data) = answer.body, client.task.delegate == nil, answer.response.statusCode != 401,
            !RedirectPolicy.statuses.contains(answer.response.statusCode),
            // A download gets a file.
            type(of: client.task) != URLSessionDownloadTask.self
        else { return false }
        client.receive(answer.response)
        if !data.isEmpty { client.load(data) }
        context.emit(answer.event)
        context.renew(answer)
        client.finish(answer.response)
        return true
    }
}
