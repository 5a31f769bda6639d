import Foundation
import FoundationNetworking
import Synchronization

/// The steps of a request that carries the interceptor's own cookies: somebody logs in where that is needed, the storages
/// are looked at, the cookies are chosen, and then its rule's sources are asked.
///
/// Cookies are chosen before the sources, since `Vary` and the part of the store go by them.
struct IdentifiedServing: Sendable {
    let engine: Engine
    let cookies: SessionCookies
    let request: URLRequest
    let match: Engine.Match

    /// What comes first.
    var step: ServingStep {
        // Before anything else, so that who waits for a login and outlives it does not go on under the next one.
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

    /// After the storages that have to be waited for.
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

    /// With the cookies in the request.
    private func chosen(_ ticket: LoginTicket?) -> ServingStep {
        let request = cookies.choosing(for: request)
        let serving = Serving(engine: engine, request: request, canonical: match.canonical)
        let step = serving.step(match.step).wrapped { .changed(request, $0) }
        guard let ticket, ticket.login.covers(request) else { return step }
        return step.wrapped { .under(ticket, $0) }
    }
}

extension LoginSession {
    /// Whether somebody who needs a login has to wait for it.
    var mustWait: Bool { token == nil || state.withLock { $0.login.isAsking } }

    /// What a load is told whose host may not get the token.
    func outOfDomain(_ url: URL?) -> URLError {
        let message = """
            \(url?.host ?? "the host") needs a login by its rule, and is no host of \(cookie.domain), which the token of \
            \(account) is for
            """
        return URLError(
            .userAuthenticationRequired,
            failing: url,
            message,
            underlying: WaystationError(.loginOutOfDomain, message)
        )
    }
}
