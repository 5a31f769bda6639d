import Dispatch
import Foundation
import FoundationNetworking
import WaystationCookies

/// A transport that passes each `Set-Cookie` of each final head to the store, before the head is delivered.
///
/// It is below the cache, so redirects, 304s and background renewals pass through it, and stored responses do not. The
/// cookies of a request are chosen above the cache, because the cache must know them.
struct CookieTransport: Transport {
    private let transport: any Transport
    private let cookies: CookieStore

    init(_ transport: any Transport, _ cookies: CookieStore) {
        self.transport = transport
        self.cookies = cookies
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        // The moment must be taken first: cookies that this exchange sets after a later log-out are refused by it, and
        // a log-out before it is detected by the check below.
        let moment = cookies.moment()
        guard !cookies.carriesEnded(request) else { return EndedExchange(request, receiver) }
        let relay = CookieReceiver(receiver: receiver, request: request, cookies: cookies, moment: moment)
        return transport.start(request, receiver: relay)
    }
}

private struct CookieReceiver: TransportReceiver {
    let receiver: any TransportReceiver
    let request: URLRequest
    let cookies: CookieStore
    let moment: CookieStore.Moment

    func transportDidReceive(_ head: HTTPURLResponse) {
        cookies.take(head, to: request, sent: moment)
        receiver.transportDidReceive(head)
    }

    func transportDidReceive(_ part: Data) { receiver.transportDidReceive(part) }

    func transportDidSend(_ count: Int64, total: Int64, expected: Int64) {
        receiver.transportDidSend(count, total: total, expected: expected)
    }

    func transportDidEnd(_ error: (any Error)?) { receiver.transportDidEnd(error) }
}

/// An exchange that is not sent, because its request carries cookies that a log-out has removed.
private struct EndedExchange: TransportExchange {
    init(_ request: URLRequest, _ receiver: any TransportReceiver) {
        DispatchQueue.global().async { receiver.transportDidEnd(URLError.loggedOut(request.url)) }
    }

    func cancel() {}
}
