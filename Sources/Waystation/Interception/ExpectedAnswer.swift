package import Foundation
package import WaystationCaching

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The answer that a request would get now, without being sent.
package enum ExpectedAnswer: Sendable {
    /// No rule takes the request.
    case unclaimed
    /// A file or a stored response answers it.
    case answered(from: LoadEvent.Source, status: Int)
    /// The cache asks the origin, with or without a condition (RFC 9110 §13).
    case fetched(CacheStatus.ForwardReason, isConditional: Bool)
    /// The request is sent to the origin without the cache.
    case forwarded
    /// Foundation's own loader runs the task.
    case handedBack
    /// The app's handler of external links gets the URL.
    case openedElsewhere
    /// The load fails.
    case failed(URLError)
    /// The load waits first: for a login, or for the storage of cookies.
    case delayed

    init(_ verdict: Verdict) {
        self =
            switch verdict {
            case .answer(let answer): .answered(from: answer.source, status: answer.response.statusCode)
            case .fetch(_, let fetch): .fetched(fetch.reason, isConditional: fetch.revalidation != nil)
            case .send, .carry, .spool: .forwarded
            case .handBack: .handedBack
            case .open: .openedElsewhere
            case .fail(let error): .failed(error)
            case .lookUp, .wait: .delayed
            }
    }
}

extension ClientLoads {
    /// The answer that a request would get now.
    ///
    /// The files, the packs and the cache are looked at; nothing is sent, and no login begins.
    package func expectedAnswer(to request: URLRequest) async -> ExpectedAnswer {
        guard let visit = firstVisit(for: request, sendsUnclaimed: false) else { return .unclaimed }
        var verdict = visit.verdict
        while case .lookUp(let lookUp) = verdict {
            verdict = await withCheckedContinuation { found in lookUp.run { found.resume(returning: $0) } }
        }
        return ExpectedAnswer(verdict)
    }
}
