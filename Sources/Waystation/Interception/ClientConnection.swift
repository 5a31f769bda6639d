import Foundation
import Synchronization

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A connection to an origin that a client opens by itself, such as that of a web socket (RFC 6455).
///
/// The rules decide whether its request may be sent, the login and the cookie store complete the request, and a log-out
/// ends the connection. Files, packs and stored responses are not used. Its members may be called from any thread.
package final class ClientConnection: Sendable {
    private struct State {
        /// Ends the wait for a login.
        var stop: (@Sendable () -> Void)?
        /// The place among the connections and loads of a login.
        var place: LoginPlace?
        var hasEnded = false
    }

    private let cookies: CookieStore?
    private let close: @Sendable () -> Void
    private let state = Mutex(State())

    /// - Parameters:
    ///   - cookies: The interceptor's cookies.
    ///   - close: Called when a log-out ends the connection: the client closes it, and then calls ``end()``.
    init(cookies: CookieStore?, close: @escaping @Sendable () -> Void) {
        self.cookies = cookies
        self.close = close
    }

    /// Carries out the verdict of the stations about the request.
    ///
    /// - Parameters:
    ///   - visit: The verdict, in which the choice of a source does not matter.
    ///   - prepared: Called with the request to send, or with the reason why none must be sent. It is called once, on
    ///     any thread, unless the connection is ended before.
    func prepare(
        _ visit: Visit,
        _ prepared: @escaping @Sendable (Result<URLRequest, any Error>) -> Void
    ) {
        switch visit.verdict {
        case .wait(let wait):
            let stop = wait.begin { self.prepare($0, prepared) }
            let hasEnded = state.withLock { state in
                if !state.hasEnded { state.stop = stop }
                return state.hasEnded
            }
            if hasEnded { stop() }
        case .fail(let error): prepared(.failure(error))
        case .open: prepared(.failure(ExternalLinks.opened(visit.hop.request.url)))
        case .answer, .fetch, .send, .carry, .handBack, .spool, .lookUp:
            guard let ticket = visit.hop.ticket else { return prepared(.success(visit.hop.request)) }
            guard enter(ticket) else { return prepared(.failure(URLError.loggedOut(visit.hop.request.url))) }
            prepared(.success(visit.hop.request))
        }
    }

    private func enter(_ ticket: LoginTicket) -> Bool {
        let place = ticket.enter { [weak self] place in
            guard let self else {
                place.leave()
                return false
            }
            close()
            return true
        }
        guard let place else { return false }
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.place = place }
            return state.hasEnded
        }
        if hasEnded { place.leave() }
        return true
    }

    /// Sends the request, unless a log-out has removed a cookie of it.
    ///
    /// - Parameters:
    ///   - request: The request that was prepared.
    ///   - write: Passes the request to the network.
    /// - Returns: Takes over the cookies of the response's head; nil if the request was not sent.
    package func send(_ request: URLRequest, _ write: () -> Void) -> (@Sendable (ResponseHead) -> Void)? {
        guard let cookies else {
            write()
            return { _ in }
        }
        let moment = cookies.moment()
        guard cookies.sending(request, write) != nil else { return nil }
        return { cookies.take($0, to: request, sent: moment) }
    }

    /// The connection was closed, or is no longer wanted.
    package func end() {
        let (stop, place) = state.withLock { state in
            state.hasEnded = true
            return (state.stop.take(), state.place.take())
        }
        stop?()
        place?.leave()
    }
}
