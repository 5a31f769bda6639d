import Foundation
import FoundationNetworking
import Synchronization

/// The steps of a request that carries the interceptor's own cookies.
///
/// The request waits for a login if it needs one, the storages are read, the cookies are chosen, and then the sources
/// of its rule are asked. Cookies are chosen before the sources, because `Vary` and the part of the store depend on
/// them.
struct IdentifiedServing: Sendable {
    let engine: Engine
    let cookies: SessionCookies
    let request: URLRequest
    let match: Engine.Match

    /// The first step.
    var step: ServingStep {
        // Taken first, so that a request that waits for one login and outlasts it does not continue under the next one.
        let ticket = engine.configuration.login.map { LoginTicket($0) }
        guard let login = engine.configuration.login, let requirement = match.step.requirement,
            requirement.isMet(by: request, match.canonical)
        else { return synchronized(ticket) }
        guard login.covers(request.url) else { return .fail(login.outOfDomain(request.url)) }
        guard login.mustWait else { return synchronized(ticket) }
        return .wait(
            Wait { completion in
                let waiting = login.wait(refused: nil, url: request.url) { result in
                    switch result {
                    case .success: completion(synchronized(ticket))
                    case .failure(let error): completion(.fail(error))
                    }
                }
                return { waiting?.stop() }
            }
        )
    }

    /// The step after waiting for those storages that must be waited for.
    private func synchronized(_ ticket: LoginTicket?) -> ServingStep {
        guard !engine.storages.isEmpty else { return chosen(ticket) }
        return .wait(
            Wait { completion in
                flush(engine.storages[...]) { completion(chosen(ticket)) }
                return {}
            }
        )
    }

    private func flush(_ storages: ArraySlice<CookieSync>, _ completion: @escaping @Sendable () -> Void) {
        guard let first = storages.first else { return completion() }
        first.flush { flush(storages.dropFirst(), completion) }
    }

    /// The step with the cookies in the request.
    private func chosen(_ ticket: LoginTicket?) -> ServingStep {
        let request = cookies.choosing(for: request)
        let serving = Serving(engine: engine, request: request, canonical: match.canonical)
        let step = serving.step(match.step).wrapped { .changed(request, $0) }
        guard let ticket, ticket.login.covers(request) else { return step }
        return step.wrapped { .under(ticket, $0) }
    }
}

extension LoginSession {
    /// Whether a request that needs a login must wait for it.
    var mustWait: Bool { token == nil || state.withLock { $0.login.isAsking } }

    /// The error of a load whose host may not get the token.
    func outOfDomain(_ url: URL?) -> URLError {
        let message = """
            the rule for \(url?.host ?? "the host") requires a login, but the token of \(account) is only for hosts of \
            \(cookie.domain)
            """
        return URLError(
            .userAuthenticationRequired,
            failing: url,
            message,
            underlying: WaystationError(.loginOutOfDomain, message)
        )
    }
}
