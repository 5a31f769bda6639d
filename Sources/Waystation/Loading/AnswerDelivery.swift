import Foundation
import FoundationNetworking

/// Delivers to a task an answer that is already available.
enum AnswerDelivery {
    /// Delivers the answer at once.
    ///
    /// Call it in `startLoading`. It delivers only to a task without a delegate, because a delegate may decide about
    /// the response.
    ///
    /// - Returns: False when the answer must be delivered step by step.
    static func deliverInline(_ answer: Answer, to client: LoadClient, _ context: LoadContext) -> Bool {
        guard case .data(let data) = answer.body, client.task.delegate == nil, answer.response.statusCode != 401 else {
            return false
        }
        client.receive(answer.response)
        if !data.isEmpty { client.load(data) }
        served(answer, context)
        client.finish(answer.response)
        return true
    }

    /// Delivers the answer step by step; callable from any thread.
    static func deliver(_ answer: Answer, to load: Load, _ context: LoadContext) {
        switch answer.body {
        case .data(let data):
            served(answer, context)
            // A delegate gets no call for an empty body.
            if data.isEmpty {
                load.deliver(.response(answer.response), .end(nil))
            } else {
                load.deliver(.response(answer.response), .data(data), .end(nil))
            }
        case .source(let source):
            let pump = BodyPump(response: answer.response, source: source, load: load) { end in
                switch end {
                case .complete: served(answer, context)
                case .failed(let error): context.emit(.failed(error))
                case .restarted(let error): context.emit(.degraded("\(error)"))
                }
            }
            load.deliver(.reached { pump.start() })
        }
    }

    private static func served(_ answer: Answer, _ context: LoadContext) {
        context.emit(.served(from: answer.source, status: answer.response.statusCode, bytes: answer.body.length))
        guard let plan = answer.renews else { return }
        context.engine.fetches.renew(plan, engine: context.engine, through: context.binding.network)
    }
}
