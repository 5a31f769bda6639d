import Dispatch
import Foundation
import FoundationNetworking
import WaystationCookies

/// A transport that takes what responses set: each `Set-Cookie` of each final head, before anybody hears of it.
///
/// It stands under the cache, so that redirects, 304s and renewals in the background pass through it, and stored
/// responses do not. What a request carries is chosen above the cache, which has to know it.
struct CookieTransport: Transport {
    private let transport: any Transport
    private let cookies: CookieStore

    init(_ transport: any Transport, _ cookies: CookieStore) {
        self.transport = transport
        self.cookies = cookies
    }

    func start(_ request: URLRequest, receiver: any TransportReceiver) -> any TransportExchange {
        // First the moment: a log-out after it keeps out what this exchange sets, one before it is noticed below.
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

/// An exchange that is not sent, because it carries what a log-out has removed.
private struct EndedExchange: TransportExchange {
    init(_ request: URLRequest, _ receiver: any TransportReceiver) {
        DispatchQueue.global().async { receiver.transportDidEnd(URLError.loggedOut(request.url)) }
    }

    func cancel() {}
}
