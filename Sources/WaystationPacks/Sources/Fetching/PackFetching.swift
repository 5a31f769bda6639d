/// The network interface of sources and downloads: one request, one response.
///
/// The default is ``URLSessionFetcher``; ``TransportFetcher`` sends through any transport. The fetcher follows redirects
/// itself, and the response has the final URL.
public protocol PackFetching: Sendable {
    /// Sends a request, and returns when the response's head has arrived.
    ///
    /// Every final status is a normal result. Cancelling the calling task, before the head has arrived or while the
    /// body is read, stops the traffic; so does dropping the response.
    ///
    /// - Throws: ``PackError`` with ``PackError/Code/network`` when no response arrived.
    func fetch(_ request: FetchRequest) async throws -> FetchedResponse
}
