import Foundation
import FoundationNetworking

/// Brings an answer that is at hand to its task.
enum AnswerDelivery {
    /// Delivers on the spot.
    ///
    /// To be called in `startLoading`, for a task whose delegate has no say.
    ///
    /// - Returns: False when the answer must take its steps one by one.
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

    /// Delivers step by step, from any thread.
    static func deliver(_ answer: Answer, to load: Load, _ context: LoadContext) {
        switch answer.body {
        case .data(let data):
            served(answer, context)
            // A delegate is told of bytes, never of none.
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
