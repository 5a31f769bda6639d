import Foundation
import FoundationNetworking
import Synchronization

@testable import Waystation

/// An owner of a forwarded load that records its calls, answers with the test's closures, and can be awaited.
final class RecordingOwner: ForwardedLoadOwner {
    enum Call: Equatable {
        case follow(Int, to: String)
        case challenge(failures: Int, proposed: String?)
        case head(Int, of: String)
        case part(String)
        case found(Int)
        case sent(Int64, total: Int64, expected: Int64)
        case end(URLError.Code?)
    }

    private let log = Mutex<[Call]>([])
    private let ended: AsyncStream<Void>.Continuation
    private let ends: AsyncStream<Void>
    private let follow: @Sendable (URLRequest) -> URLRequest?
    private let challenged: @Sendable (URLAuthenticationChallenge) -> ChallengeAnswer
    private let received: @Sendable (Data) -> Void

    init(
        follow: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 },
        challenged: @escaping @Sendable (URLAuthenticationChallenge) -> ChallengeAnswer = { _ in .complete },
        received: @escaping @Sendable (Data) -> Void = { _ in }
    ) {
        self.follow = follow
        self.challenged = challenged
        self.received = received
        (ends, ended) = AsyncStream.makeStream()
    }

    var calls: [Call] { log.withLock { $0 } }

    /// Waits for the load's end, and returns the recorded calls.
    func completion() async -> [Call] {
        for await _ in ends { break }
        return calls
    }

    private func note(_ call: Call) { log.withLock { $0.append(call) } }

    func shouldFollow(
        _ response: HTTPURLResponse,
        _ next: URLRequest,
        answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note(.follow(response.statusCode, to: next.url?.absoluteString ?? "-"))
        answer(follow(next))
    }

    func answer(_ challenge: URLAuthenticationChallenge, _ completion: @escaping @Sendable (ChallengeAnswer) -> Void) {
        note(.challenge(failures: challenge.previousFailureCount, proposed: challenge.proposedCredential?.user))
        completion(challenged(challenge))
    }

    func didReceive(head: HTTPURLResponse, to request: URLRequest) {
        note(.head(head.statusCode, of: request.url?.absoluteString ?? "-"))
    }

    func didReceive(part: Data) {
        note(.part(String(decoding: part, as: UTF8.self)))
        received(part)
    }

    func didFind(_ answer: Answer) {
        note(.found(answer.response.statusCode))
        ended.yield()
    }

    func didSend(_ count: Int64, total: Int64, expected: Int64) {
        note(.sent(count, total: total, expected: expected))
    }

    func didEnd(_ error: (any Error)?) {
        note(.end((error as? URLError)?.code))
        ended.yield()
    }
}
