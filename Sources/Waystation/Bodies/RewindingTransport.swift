import Foundation
import FoundationNetworking

/// A transport that gives each exchange all of the body, however often the request is sent.
///
/// A stream that was sent once and is not spooled has nothing left to send: such a request fails, since half a body
/// must not pass for a whole one.
struct RewindingTransport: Transport {
    let transport: any Transport

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        if !request.isRepeatable, let stream = request.httpBodyStream, stream.streamStatus != .notOpen {
            receiver.transportDidEnd(
                URLError(
                    .requestBodyStreamExhausted,
                    failing: request.url,
                    """
                    the body of \(request.url?.absoluteString ?? "the request") is a stream that was read already: set \
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
