import Foundation
import FoundationNetworking

/// Records the login under which a request got its cookies, and the number of log-outs at that time.
struct LoginTicket: Sendable {
    let login: LoginSession
    private let epoch: UInt64

    /// Makes a ticket for the present; take it before the request gets its cookies, so that a log-out in between makes
    /// it void.
    init(_ login: LoginSession) {
        self.login = login
        epoch = login.loads.epoch
    }

    /// Whether no log-out has happened since.
    var isValid: Bool { login.loads.epoch == epoch }

    /// Gives a load its place; nil when the user has logged out since.
    func enter(end: @escaping @Sendable (LoginPlace) -> Void) -> LoginPlace? {
        login.loads.enter(epoch, end: end)
    }
}

extension Load {
    /// Gives the load a place among those of a login, so that a log-out ends it.
    ///
    /// Returns false when the user has logged out since the request got its cookies: then the load has ended, or is
    /// about to.
    @discardableResult
    func enter(_ ticket: LoginTicket) -> Bool {
        let url = task.originalRequest?.url
        if hasPlace { return ticket.isValid }
        let place = ticket.enter { [weak self] place in
            guard let self else { return place.leave() }
            abort(.loggedOut(url), leaving: place)
        }
        guard let place else {
            abort(.loggedOut(url), leaving: nil)
            return false
        }
        take(place)
        return true
    }
}
