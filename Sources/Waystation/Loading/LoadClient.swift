import Foundation
import FoundationNetworking

/// A protocol's client and its task, to be called on the session's work queue alone.
///
/// `@unchecked Sendable`: `URLProtocol` is explicitly not sendable and a subclass cannot change that. The
/// box crosses threads only to reach the work queue; every call of its members is made there.
struct LoadClient: @unchecked Sendable {
    let task: URLSessionTask
    let owner: URLProtocol
    /// The client itself, which the protocol no longer gives away once the load is over.
    let client: any URLProtocolClient
    /// Collects what the app gets; nil unless a recorder listens.
    private(set) var recording: ExchangeRecording?

    init?(_ owner: URLProtocol) {
        guard let task = owner.task, let client = owner.client else { return nil }
        self.owner = owner
        self.task = task
        self.client = client
    }

    /// The same client, with what it is told collected where a recorder listens.
    func recorded(in context: LoadContext) -> LoadClient {
        guard let recording = context.recording else { return self }
        var client = self
        client.recording = recording
        return client
    }

    /// Sets the task's response, and tells the delegate when there is one to tell.
    func receive(_ response: URLResponse) {
        recording?.didReceive(response)
        client.urlProtocol(owner, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    /// Delivers bytes: all of them to a delegate; a completion handler gets those of the last call alone.
    func load(_ data: Data) {
        recording?.didLoad(data)
        client.urlProtocol(owner, didLoad: data)
    }

    /// Ends the task well.
    ///
    /// `response` is what the task was given last.
    func finish(_ response: URLResponse?) {
        // Before the app: what it has loaded has been recorded.
        recording?.didEnd()
        (response as? UnchallengedResponse).concluding {
            client.urlProtocolDidFinishLoading(owner)
        }
    }

    /// Ends the task with an error.
    func fail(_ error: any Error) {
        recording?.didEnd(error)
        client.urlProtocol(owner, didFailWithError: error)
    }
}
