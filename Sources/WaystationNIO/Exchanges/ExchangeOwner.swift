#if NIO
import NIOCore

/// The engine, as its exchanges see it.
///
/// All its methods are called on the event loop.
protocol ExchangeOwner: AnyObject {
    /// Something is to be delivered at the end of this turn of the loop.
    func exchangeHasNews(_ exchange: Exchange)
    /// The exchange is taken away from its queue or its connection.
    func exchange(_ exchange: Exchange, mustLeave leave: ExchangeState.Leave)
    /// The connection has no more to do with the exchange.
    func exchange(_ exchange: Exchange, didEndOn connection: ConnectionID)
    /// The server has refused the request because it takes it over HTTP/1.1 only.
    ///
    /// - Parameter exchange: The exchange.
    /// - Returns: Whether new connections to the server speak HTTP/1.1, so that the request can be sent again.
    func exchangeRequiresHTTP1(_ exchange: Exchange) -> Bool
    /// The request must be sent again.
    ///
    /// - Parameters:
    ///   - exchange: The exchange.
    ///   - connection: The connection that was lost with the request, or of which only the request's stream was lost;
    ///     nil if the server did not process the request.
    ///   - pause: The time to wait before.
    func exchangeMustRetry(_ exchange: Exchange, lostOn connection: ConnectionID?, after pause: TimeAmount)
    /// The end was delivered, or nothing more is to be delivered.
    func exchangeIsOver(_ exchange: Exchange)
    /// A deadline is running that may be earlier than those before.
    func exchangeHasDeadline(_ exchange: Exchange)
}
#endif
