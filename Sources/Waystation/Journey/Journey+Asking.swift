import Foundation
import Synchronization
import WaystationTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The questions that a response raises: whether the client follows a redirect, which credentials it has for a
/// challenge, and the renewal of a refused token.
extension Journey {
    func redirect(_ head: ResponseHead, to next: URLRequest, isHTTP: Bool) {
        let (trip, hop, client) = state.withLock { ($0.course.trip, $0.course.hop, $0.client) }
        // A redirect to an external link requests nothing, so the client is not asked.
        if context.stations.isExternalLink(next) { return go(on: context.stations.next(next, after: hop), after: trip) }
        guard isHTTP else { return finish(RedirectPolicy.unsupported(next.url, after: hop.request)) }
        guard client?.decidesAboutRedirects ?? false else { return follow(head, to: next, in: trip) }
        guard let response = head.response else { return follow(head, to: next, in: trip) }
        deliver { client in client.follow(response, to: next) { self.follow(head, to: $0, in: trip) } }
    }

    private func follow(_ head: ResponseHead, to next: URLRequest?, in trip: Int) {
        guard let next else { return refuse(in: trip) }
        guard let hop = state.withLock({ $0.course.follow(in: trip) }) else { return }
        if let recording = context.recording, let response = head.response {
            recording.didRedirect(response, to: next)
        }
        go(on: context.stations.next(next, after: hop), after: trip)
    }

    /// Delivers a redirect, because the client does not follow it.
    private func refuse(in trip: Int) {
        guard let refused = state.withLock({ $0.course.refuseRedirect(in: trip) }) else { return }
        if let answer = refused.answer { return deliver(answer) }
        guard let head = refused.head else { return }
        deliver(head, isFetched: state.withLock(\.course.isFetched))
        if !refused.body.isEmpty { deliver(.data(refused.body)) }
        guard refused.isCut else { return finish(nil) }
        let message = "the redirect was not followed, and its body has more than \(Course.keptRedirectBody) bytes"
        finish(URLError(.dataLengthExceedsMaximum, failing: head.url, message))
    }

    func challenge(_ space: URLProtectionSpace, _ head: ResponseHead, _ failures: Int) {
        let credentials = context.network.credentials
        let challenge = URLAuthenticationChallenge(
            protectionSpace: space,
            // A stored credential that was refused once is not proposed again.
            proposedCredential: failures == 0 ? credentials?.defaultCredential(for: space) : nil,
            previousFailureCount: failures,
            failureResponse: head.response,
            error: nil,
            sender: ChallengeSender()
        )
        let (trip, hop) = state.withLock { ($0.course.trip, $0.course.hop) }
        // The client gets the refusal and its body before the challenge, as it does from Foundation.
        deliver { client in
            client.answer(challenge) { answer in
                guard self.state.withLock({ $0.course.isUnderWay(trip) }) else { return }
                switch answer {
                case .complete: self.finish(nil)
                case .cancel: self.finish(URLError.cancelledChallenge(of: head.url))
                case .retry(let authorization, let credential):
                    if credential.persistence != .none { credentials?.set(credential, for: space) }
                    var request = hop.request
                    request.setValue(authorization, forHTTPHeaderField: "Authorization")
                    self.go(on: self.context.stations.next(request, after: hop), after: trip)
                }
            }
        }
    }

    func renew(_ token: String) {
        guard let login = context.stations.login else { return }
        let (trip, hop) = state.withLock { ($0.course.trip, $0.course.hop) }
        go(on: context.stations.renewing(token, of: login, for: hop), after: trip)
    }
}
