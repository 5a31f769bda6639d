import Foundation
import FoundationNetworking
import Measuring

/// How a load ended, and whether it may end like that.
enum Verdict: Sendable {
    case hit
    case fetched
    case cancelled
    /// A network failure, which the origin causes on purpose.
    case failed
    case wrong(String)

    init(_ result: Result<(Data, URLResponse), any Error>, _ kind: Kind, _ number: Int, isCancelled: Bool) {
        switch result {
        case .failure(let error as URLError) where isCancelled && error.code == .cancelled: self = .cancelled
        case .failure(is CancellationError) where isCancelled: self = .cancelled
        case .failure(let error): self = kind.isLocal ? .wrong("failed: \(error)") : .failed
        case .success((let body, let response)):
            self = Self.judge(body, response as? HTTPURLResponse, kind, number)
        }
    }

    private static func judge(_ body: Data, _ response: HTTPURLResponse?, _ kind: Kind, _ number: Int) -> Verdict {
        guard let response else { return .wrong("no HTTP response") }
        let isHit = InterceptedSession.isHit(response)
        let isLie = response.value(forHTTPHeaderField: UnreliableOrigin.lie) != nil
        if isLie { return isHit ? .wrong("a false answer was stored: \(response.allHeaderFields)") : .failed }
        if response.statusCode == 503 { return isHit ? .wrong("a 503 was stored") : .failed }
        guard response.statusCode == 200, body == Pattern.body(number) else {
            return .wrong(
                "status \(response.statusCode), \(body.count) bytes, \(InterceptedSession.cacheStatus(response))"
            )
        }
        return isHit ? .hit : .fetched
    }
}
