public import WaystationFoundation

/// The network, as the interceptor sees it: one request out, one response in.
///
/// A transport performs exactly one exchange for each request. It follows no redirects, answers no challenges and keeps
/// neither a cache nor cookies: the interceptor does that, in the same way for every transport. The default is ``URLSessionTransport``;
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

    /// Whether ``start(_:receiver:)`` may be called on any queue, also on those of a `URLSession`; false by default.
    ///
    /// With false it is called on a global queue, which costs a change of threads. A transport that makes tasks of a
    /// `URLSession` must leave it false: on Linux a task that is made within another session's queue ends the process.
    var startsOnAnyQueue: Bool { get }

    /// Whether the transport can carry a request; true by default.
    ///
    /// A request that it cannot carry is sent by a ``URLSessionTransport`` of the same configuration.
    func canCarry(_ request: URLRequest) -> Bool
}

extension Transport {
    /// False: the transport is started on a global queue.
    public var startsOnAnyQueue: Bool { false }

    /// True for every request.
    public func canCarry(_ request: URLRequest) -> Bool { true }
}

/// A running exchange.
public protocol TransportExchange: Sendable {
    /// Stops the traffic; the receiver gets no more calls, or an end with `URLError.cancelled`.
    func cancel()

    /// Stops reading from the network until ``resume()``, because the receiver's bytes wait to be taken.
    ///
    /// Parts that were already read may still arrive. The server's time-out rests meanwhile. By default it does nothing.
    func pause()

    /// Continues reading after ``pause()``; does nothing otherwise.
    func resume()
}

extension TransportExchange {
    /// Does nothing: the transport reads on.
    public func pause() {}

    /// Does nothing.
    public func resume() {}
}

/// The receiver to which a transport delivers the response.
public protocol TransportReceiver: Sendable {
    /// The head arrived.
    ///
    /// Only final statuses are delivered, redirects and refusals included.
    func transportDidReceive(_ head: ResponseHead)
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

/// A transport that sends a body while the rest of it is still arriving, and blocks no thread meanwhile.
///
/// Other transports get a request when its whole body is there: Foundation reads streams on the queue that all sessions
/// share, where a stream that waits stops every load.
package protocol BodyAwaitingTransport: Transport {}

extension TransportExchange {
    /// Makes the exchange pause, or resume.
    package func rest(_ rests: Bool) {
        if rests { pause() } else { resume() }
    }
}
