import Foundation
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client that is not a task, and a recording of what it gets.
///
/// Tasks have a ``LoadClient``, which does the same for them.
final class RecordedClient: JourneyClient {
    private let client: any JourneyClient
    private let recording: ExchangeRecording

    init(_ client: any JourneyClient, _ recording: ExchangeRecording) {
        self.client = client
        self.recording = recording
    }

    var needsResponse: Bool { true }

    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (_ continues: Bool) -> Void) -> Bool {
        if let response = head.response { recording.didReceive(response) }
        return client.take(head, decide)
    }

    func take(_ part: Data, of journey: Journey) {
        recording.didLoad(part)
        client.take(part, of: journey)
    }

    func end(_ error: (any Error)?) {
        // The recorder is called first: when the client gets the end, the load has been recorded.
        recording.didEnd(error)
        client.end(error)
    }

    // MARK: - Passed on unchanged

    var decidesAboutRedirects: Bool { client.decidesAboutRedirects }
    var isReachable: Bool { client.isReachable }
    var isReady: Bool { client.isReady }
    var isStreamed: Bool { client.isStreamed }

    func perform(_ work: @escaping @Sendable () -> Void) { client.perform(work) }

    func whenPassedOn(_ work: @escaping @Sendable () -> Void) { client.whenPassedOn(work) }

    func didSend(_ count: Int64, total: Int64, expected: Int64) {
        client.didSend(count, total: total, expected: expected)
    }

    func follow(
        _ response: HTTPURLResponse,
        to next: URLRequest,
        _ answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        client.follow(response, to: next, answer)
    }

    func answer(
        _ challenge: URLAuthenticationChallenge,
        _ completion: @escaping @Sendable (ChallengeAnswer) -> Void
    ) {
        client.answer(challenge, completion)
    }

    func handBack() -> Bool { client.handBack() }
}
