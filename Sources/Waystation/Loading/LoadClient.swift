import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A protocol's client and its task.
///
/// Its members must be called on the session's work queue only.
///
/// `@unchecked Sendable`: `URLProtocol` is explicitly not sendable and a subclass cannot change that. The box crosses
/// threads only to reach the work queue; every call of its members is made there.
struct LoadClient: @unchecked Sendable {
    let task: URLSessionTask
    let owner: URLProtocol
    /// The client itself, because the protocol's own `client` is nil once the load is over.
    let client: any URLProtocolClient
    /// Collects what the app gets; nil unless a recorder is set.
    private(set) var recording: ExchangeRecording?

    init?(_ owner: URLProtocol) {
        guard let task = owner.task, let client = owner.client else { return nil }
        self.owner = owner
        self.task = task
        self.client = client
    }

    /// The same client, which also passes everything it delivers to the recording if a recorder is set.
    func recorded(in context: LoadContext) -> LoadClient {
        guard let recording = context.recording else { return self }
        var client = self
        client.recording = recording
        return client
    }

    /// Sets the task's response, and reports it to the delegate if there is one.
    func receive(_ response: URLResponse) {
        recording?.didReceive(response)
        client.urlProtocol(owner, didReceive: response, cacheStoragePolicy: .notAllowed)
    }

    /// Delivers bytes.
    ///
    /// A delegate gets the bytes of every call, a completion handler only those of the last call.
    func load(_ data: Data) {
        recording?.didLoad(data)
        client.urlProtocol(owner, didLoad: data)
    }

    /// Gives the session the file of a download.
    ///
    /// - Throws: `URLError.cannotCreateFile` if the file cannot be written.
    func save(_ body: Data) throws(URLError) {
        recording?.didLoad(body)
        try DownloadedFile.current.handOver(body, by: owner)
    }

    /// Ends the task successfully.
    ///
    /// `response` is the response that the task got last.
    func finish(_ response: URLResponse?) {
        // The recorder is called before the app: when the app gets its end, the load has been recorded.
        recording?.didEnd()
        EndedTask.current.keepFromResuming(task, status: (response as? HTTPURLResponse)?.statusCode)
        (response as? UnchallengedResponse).concluding {
            client.urlProtocolDidFinishLoading(owner)
        }
    }

    /// Ends the task with an error.
    func fail(_ error: any Error) {
        recording?.didEnd(error)
        EndedTask.current.keepFromResuming(task)
        client.urlProtocol(owner, didFailWithError: error)
    }
}
