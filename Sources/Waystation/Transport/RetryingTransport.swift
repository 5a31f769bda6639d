import Foundation
import FoundationNetworking
import Synchronization

/// A transport that sends a request once more when its connection was dropped before a response began.
///
/// A server may close a kept-alive connection just when the next request is sent (RFC 9110 §9.2.2, RFC 9112 §9.3.1).
/// Idempotent requests whose body can be sent again are repeated, once; other requests are not.
struct RetryingTransport: Transport {
    private let transport: any Transport

    init(_ transport: any Transport) { self.transport = transport }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        guard Self.mayRepeat(request) else { return transport.start(request, receiver: receiver) }
        let exchange = RepeatableExchange(request, through: transport, receiver: receiver)
        exchange.start()
        return exchange
    }

    private static func mayRepeat(_ request: URLRequest) -> Bool {
        idempotentMethods.contains(request.httpMethod ?? "GET") && request.isRepeatable
    }

    /// RFC 9110 §9.2.2.
    private static let idempotentMethods: Set<String> = ["GET", "HEAD", "OPTIONS", "TRACE", "PUT", "DELETE"]

    /// Whether an error means that an established connection was closed.
    ///
    /// Foundation has no error code of its own for a connection that is closed before the first byte of a response.
    static func isDropped(_ error: any Error) -> Bool {
        guard let error = error as? URLError else { return false }
        return error.code == .networkConnectionLost
            || (error.code == .badServerResponse && error.localizedDescription == "Empty reply from server")
    }
}

private final class RepeatableExchange: TransportExchange, TransportReceiver {
    private struct State {
        var running: (any TransportExchange)?
        var hasBegun = false
        var isRepeated = false
        var isCancelled = false
        var hasEnded = false
    }

    private let request: URLRequest
    private let transport: any Transport
    private let receiver: any TransportReceiver
    private let state = Mutex(State())

    init(_ request: URLRequest, through transport: any Transport, receiver: any TransportReceiver) {
        self.request = request
        self.transport = transport
        self.receiver = receiver
    }

    func start() {
        let exchange = transport.start(request, receiver: self)
        let isCancelled = state.withLock { state in
            // The exchange holds this object as its receiver, so it is not kept after the end.
            if !state.hasEnded, !state.isCancelled { state.running = exchange }
            return state.isCancelled
        }
        if isCancelled { exchange.cancel() }
    }

    func cancel() {
        let exchange = state.withLock { state in
            state.isCancelled = true
            defer { state.running = nil }
            return state.running
        }
        exchange?.cancel()
    }

    func transportDidReceive(_ head: HTTPURLResponse) {
        state.withLock { $0.hasBegun = true }
        receiver.transportDidReceive(head)
    }

    func transportDidReceive(_ part: Data) { receiver.transportDidReceive(part) }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        receiver.transportDidSend(count, total: total, expected: expected)
    }

    func transportDidEnd(_ error: (any Error)?) {
        let isRepeating = state.withLock { state in
            state.running = nil
            guard let error, RetryingTransport.isDropped(error), !state.hasBegun, !state.isRepeated,
                !state.isCancelled
            else {
                state.hasEnded = true
                return false
            }
            state.isRepeated = true
            return true
        }
        guard isRepeating else { return receiver.transportDidEnd(error) }
        start()
    }
}
