/// The network, as sources and downloads see it: one request out, one response in.
///
/// The default is ``URLSessionFetcher``. Redirects are the fetcher's matter: it follows them, and the response names the
/// URL that it came from in the end.
public protocol PackFetching: Sendable {
    /// Sends a request, and returns when the response's head has arrived.
    ///
    /// Every final status is a normal result. Cancelling the calling task, before the head or while the body is read,
    /// stops the traffic; so does dropping the response.
    ///
    /// - Throws: ``PackError`` with ``PackError/Code/network`` when no response arrived.
    func fetch(_ request: FetchRequest) async throws -> FetchedResponse
}
