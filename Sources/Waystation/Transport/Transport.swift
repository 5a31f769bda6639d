public import Foundation
public import FoundationNetworking

/// The network, as the interceptor sees it: one request out, one response in.
///
/// A transport performs exactly one exchange. It follows no redirects, answers no challenges and keeps no
/// cache: those are the interceptor's, the same for every transport. The default is ``URLSessionTransport``;
/// tests use a scripted one.
public protocol Transport: Sendable {
    /// Starts an exchange and returns at once.
    ///
    /// - Parameters:
    ///   - request: What to send. Its `timeoutInterval` bounds the silence between two arrivals, in seconds.
    ///     A body stream is fresh: a request that is sent again comes with another one.
    ///   - receiver: Told of what arrives: at most one head, then body parts in order, then one end. Calls
    ///     come one at a time, on any thread, and none after the end or after a cancel took effect.
    /// - Returns: The exchange, to be cancelled by.
    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange
}

/// A running exchange.
public protocol TransportExchange: Sendable {
    /// Stops the traffic. The receiver is told nothing more, or an end with `URLError.cancelled`.
    func cancel()
}

/// Where a transport delivers what arrives.
public protocol TransportReceiver: Sendable {
    /// The head arrived: final statuses only, redirects and refusals included.
    func transportDidReceive(_ head: HTTPURLResponse)
    /// A part of the body arrived, decoded where the transport decodes content codings.
    func transportDidReceive(_ part: Data)
    /// A part of the request's body left, in bytes.
    func transportDidSend(_ count: Int64, total: Int64, expected: Int64)
    /// The exchange ended: complete when `error` is nil, else broken off.
    ///
    /// A body that ends early by the response's own framing is an error, never an end.
    func transportDidEnd(_ error: (any Error)?)
}

extension TransportReceiver {
    /// Ignores the progress of the request's body.
    public func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {}
}
