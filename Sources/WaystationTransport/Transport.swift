public import Foundation
public import FoundationNetworking

/// The network, as the interceptor sees it: one request out, one response in.
///
/// A transport performs exactly one exchange for each request. It follows no redirects, answers no challenges and keeps
/// no cache: the interceptor does that, in the same way for every transport. The default is ``URLSessionTransport``;
/// tests use a scripted one.
public protocol Transport: Sendable {
    /// Starts an exchange and returns at once.
    ///
    /// - Parameters:
    ///   - request: The request to send. Its `timeoutInterval` bounds the silence between two arrivals, in seconds. A
    ///     body stream is fresh: a request that is sent again has a new one.
    ///   - receiver: Gets the response: at most one head, then body parts in order, then one end. Calls are made one at
    ///     a time, on any thread, and none is made after the end or after a cancel took effect.
    /// - Returns: The exchange, which can be cancelled.
    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange
}

/// A running exchange.
public protocol TransportExchange: Sendable {
    /// Stops the traffic; the receiver gets no more calls, or an end with `URLError.cancelled`.
    func cancel()
}

/// The receiver to which a transport delivers the response.
public protocol TransportReceiver: Sendable {
    /// The head arrived.
    ///
    /// Only final statuses are delivered, redirects and refusals included.
    func transportDidReceive(_ head: HTTPURLResponse)
    /// A part of the body arrived; it is decoded if the transport decodes content codings.
    func transportDidReceive(_ part: Data)
    /// A part of the request's body was sent; the counts are in bytes.
    func transportDidSend(_ count: Int64, total: Int64, expected: Int64)
    /// The exchange ended: complete when `error` is nil, otherwise broken off.
    ///
    /// A body that is shorter than the response's own framing says is an error, never a normal end.
    func transportDidEnd(_ error: (any Error)?)
}

extension TransportReceiver {
    /// Ignores the progress of the request's body.
    public func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {}
}
