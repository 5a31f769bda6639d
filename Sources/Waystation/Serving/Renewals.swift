import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import WaystationStorage

/// The loads that renew the archive behind an answer that was served already: one at a time for each key.
final class Renewals: Sendable {
    private let keys = Mutex<Set<RequestKey>>([])

    /// Starts to renew what is stored for a request, unless that is under way.
    func start(_ entry: ArchiveEntry, for request: URLRequest, engine: Engine, network: Network) {
        guard let cache = engine.cache, keys.withLock({ $0.insert(entry.key).inserted }) else { return }
        let renewal = Renewal(
            recorder: ArchiveRecorder(entry, in: cache.store, now: engine.configuration.now)
        ) { [weak self] stored in
            self?.keys.withLock { _ = $0.remove(entry.key) }
            if let stored { engine.events.emit(LoadEvent(kind: .stored(bytes: stored), url: request.url)) }
        }
        // Making a task on the loading queue, where hits are answered, would kill the process.
        DispatchQueue.global().async {
            ForwardedLoad(
                request,
                through: { network.transport },
                credentials: network.credentials,
                owner: renewal
            ).start()
        }
    }
}

/// Stores what arrives and tells nobody.
///
/// Redirects are followed, credentials come from the storage alone.
private final class Renewal: ForwardedLoadOwner {
    private let recorder: ArchiveRecorder
    private let ended: @Sendable (Int?) -> Void

    init(recorder: ArchiveRecorder, ended: @escaping @Sendable (Int?) -> Void) {
        self.recorder = recorder
        self.ended = ended
    }

    func shouldFollow(_: HTTPURLResponse, _ next: URLRequest, answer: @escaping @Sendable (URLRequest?) -> Void) {
        answer(next)
    }

    func answer(_ challenge: URLAuthenticationChallenge, _ completion: @escaping @Sendable (ChallengeAnswer) -> Void) {
        completion(ChallengeAnswer(.performDefaultHandling, nil, for: challenge))
    }

    func didReceive(head: HTTPURLResponse, to _: URLRequest) { _ = recorder.begin(head) }
    func didReceive(part: Data) { recorder.append(part) }
    func didSend(_: Int64, total _: Int64, expected _: Int64) {}
    func didEnd(_ error: (any Error)?) { ended(recorder.end(isComplete: error == nil)) }
}
