import Foundation
import FoundationNetworking
import HTTPTypes
import WaystationCaching
import WaystationStorage

/// Passes on the response to an unsafe request, and drops the stored responses that it invalidates (RFC 9111 §4.4).
struct InvalidatingReceiver: TransportReceiver {
    private let receiver: any TransportReceiver
    private let request: HTTPRequest
    private let store: ResponseStore

    init(_ receiver: any TransportReceiver, _ request: HTTPRequest, _ store: ResponseStore) {
        self.receiver = receiver
        self.request = request
        self.store = store
    }

    func transportDidReceive(_ head: HTTPURLResponse) {
        // Done before the app gets the head, so that its next load does not get an outdated response.
        store.invalidate(after: request, head)
        receiver.transportDidReceive(head)
    }

    func transportDidReceive(_ part: Data) { receiver.transportDidReceive(part) }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        receiver.transportDidSend(count, total: total, expected: expected)
    }

    func transportDidEnd(_ error: (any Error)?) { receiver.transportDidEnd(error) }
}

extension Network {
    /// Sends a request without the cache; the answer to an unsafe method invalidates stored responses.
    func send(
        _ request: URLRequest,
        for receiver: any TransportReceiver,
        dropping store: ResponseStore?
    ) -> any TransportExchange {
        guard let store, let canonical = CanonicalRequest(request), !Serving.safeMethods.contains(canonical.method),
            let message = HTTPRequest(request, canonical: canonical)
        else { return transport.start(request, receiver: receiver) }
        return transport.start(request, receiver: InvalidatingReceiver(receiver, message, store))
    }
}

extension ResponseStore {
    /// Drops the stored responses that the answer to an unsafe request invalidates.
    func invalidate(after request: HTTPRequest, _ head: HTTPURLResponse) {
        for url in Invalidation(after: request, response: HTTPResponse(head)).urls {
            // Invalidates for every login, because the resource has changed for all of them.
            invalidate(.url(URL(string: url).map(CanonicalRequest.url(of:)) ?? url))
        }
    }
}
