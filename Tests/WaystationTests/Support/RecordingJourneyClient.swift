import Foundation
import FoundationNetworking
import Synchronization
import Testing

@testable import Waystation

/// A client of a load that is no task: it records its calls, answers with the test's closures, and can be awaited.
final class RecordingJourneyClient: JourneyClient {
    enum Call: Equatable {
        case follow(Int, to: String)
        case challenge(failures: Int, proposed: String?)
        case head(Int, of: String)
        case part(String)
        case sent(Int64, total: Int64, expected: Int64)
        case end(URLError.Code?)
    }

    let decidesAboutRedirects = true
    let isReachable = true
    let pieceLength: Int? = 512 << 10

    private let queue = DispatchQueue(label: "client")
    private let log = Mutex<[Call]>([])
    private let hasEnded: AsyncStream<Void>.Continuation
    private let ends: AsyncStream<Void>
    private let follow: @Sendable (URLRequest) -> URLRequest?
    private let challenged: @Sendable (URLAuthenticationChallenge) -> ChallengeAnswer
    private let accepts: @Sendable (HTTPURLResponse) -> Bool
    private let received: @Sendable (Data) -> Void
    private let ended: @Sendable () -> Void
    private let ready = Atomic(true)

    init(
        follow: @escaping @Sendable (URLRequest) -> URLRequest? = { $0 },
        challenged: @escaping @Sendable (URLAuthenticationChallenge) -> ChallengeAnswer = { _ in .complete },
        accepts: @escaping @Sendable (HTTPURLResponse) -> Bool = { _ in true },
        received: @escaping @Sendable (Data) -> Void = { _ in },
        ended: @escaping @Sendable () -> Void = {}
    ) {
        self.follow = follow
        self.challenged = challenged
        self.accepts = accepts
        self.received = received
        self.ended = ended
        (ends, hasEnded) = AsyncStream.makeStream()
    }

    var calls: [Call] { log.withLock { $0 } }

    /// Whether the client takes parts now.
    var isReady: Bool {
        get { ready.load(ordering: .sequentiallyConsistent) }
        set { ready.store(newValue, ordering: .sequentiallyConsistent) }
    }

    /// Waits for the load's end, and returns the recorded calls.
    func completion() async -> [Call] {
        for await _ in ends { break }
        return calls
    }

    /// Waits for the work that is already on the client's queue.
    func settle() { queue.sync {} }

    private func note(_ call: Call) { log.withLock { $0.append(call) } }

    func perform(_ work: @escaping @Sendable () -> Void) { queue.async(execute: work) }

    var needsResponse: Bool { true }

    func take(_ head: ResponseHead, _ decide: @escaping @Sendable (Bool) -> Void) -> Bool {
        guard let head = head.response else { return true }
        note(.head(head.statusCode, of: head.url?.absoluteString ?? "-"))
        let accepts = accepts(head)
        // Decides later, as a delegate does.
        DispatchQueue.global().async { decide(accepts) }
        return false
    }

    func take(_ part: Data, of journey: Journey) {
        note(.part(String(decoding: part, as: UTF8.self)))
        received(part)
    }

    func whenPassedOn(_ work: @escaping @Sendable () -> Void) { work() }

    func end(_ error: (any Error)?) {
        note(.end((error as? URLError)?.code))
        ended()
        hasEnded.yield()
    }

    func didSend(_ count: Int64, total: Int64, expected: Int64) {
        note(.sent(count, total: total, expected: expected))
    }

    func follow(
        _ response: HTTPURLResponse,
        to next: URLRequest,
        _ answer: @escaping @Sendable (URLRequest?) -> Void
    ) {
        note(.follow(response.statusCode, to: next.url?.absoluteString ?? "-"))
        answer(follow(next))
    }

    func answer(_ challenge: URLAuthenticationChallenge, _ completion: @escaping @Sendable (ChallengeAnswer) -> Void) {
        note(.challenge(failures: challenge.previousFailureCount, proposed: challenge.proposedCredential?.user))
        completion(challenged(challenge))
    }

    func handBack() -> Bool { false }
}

extension Journey {
    /// Begins a load of an interceptor for a client that is no task.
    convenience init(
        _ client: RecordingJourneyClient,
        _ request: URLRequest,
        by interceptor: Interceptor,
        through network: Network? = nil
    ) {
        let network = network ?? interceptor.makeNetwork(.ephemeral)
        let stations = interceptor.makeStations(network)
        self.init(client, LoadContext(interceptor.environment, stations, network, request, rule: nil))
    }

    /// Sends the first request past the stations.
    func begin() throws {
        start()
        go(on: try #require(context.stations.first(context.request)))
    }
}
