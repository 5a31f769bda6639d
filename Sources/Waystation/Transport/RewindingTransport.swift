import Foundation
import FoundationNetworking

/// A transport that sends the whole body with each exchange, however often the request is sent.
///
/// A stream that was sent once and is not spooled has no bytes left. A request with such a stream fails, because a
/// partial body must not be taken for a whole one.
struct RewindingTransport: Transport {
    let transport: any Transport

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        if !request.isRepeatable, let stream = request.httpBodyStream, stream.streamStatus != .notOpen {
            receiver.transportDidEnd(
                URLError(
                    .requestBodyStreamExhausted,
                    failing: request.url,
                    """
                    the body of \(request.url?.absoluteString ?? "the request") is a stream that was already read: set \
                    bodySpool, so that it can be sent again
                    """
                )
            )
            return EndedExchange()
        }
        return transport.start(request.rewound, receiver: receiver)
    }
}

private struct EndedExchange: TransportExchange {
    func cancel() {}
}
