import Foundation
import FoundationNetworking

/// A transport that sends every request to its canonical URL, the one that rules match and responses are stored under.
///
/// An origin may treat two spellings of one address differently. If a request were sent as the app wrote it, the answer
/// to `/evil/%2e%2e/v2` would be stored for `/v2`. Responses have the URL that the app wrote, as those of Foundation
/// do.
struct CanonicalTransport: Transport {
    let transport: any Transport

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        guard let written = request.url, let canonical = written.canonical, canonical != written else {
            return transport.start(request, receiver: receiver)
        }
        var request = request
        request.url = canonical
        return transport.start(request, receiver: WrittenURLReceiver(receiver: receiver, written: written))
    }
}

/// Passes the response on, with the URL that the app wrote.
private struct WrittenURLReceiver: TransportReceiver {
    let receiver: any TransportReceiver
    let written: URL

    func transportDidReceive(_ head: HTTPURLResponse) {
        let fields = head.allHeaderFields as? [String: String]
        let told = HTTPURLResponse(
            url: written,
            statusCode: head.statusCode,
            httpVersion: "HTTP/1.1",
            headerFields: fields
        )
        receiver.transportDidReceive(told ?? head)
    }

    func transportDidReceive(_ part: Data) { receiver.transportDidReceive(part) }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        receiver.transportDidSend(count, total: total, expected: expected)
    }

    func transportDidEnd(_ error: (any Error)?) { receiver.transportDidEnd(error) }
}
