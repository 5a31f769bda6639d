import Foundation
import FoundationNetworking

/// Under which login a request got its cookies, and before which log-out.
struct LoginTicket: Sendable {
    let login: LoginSession
    private let epoch: UInt64

    /// The ticket of now; to be taken before the request gets its cookies, so that a log-out in between makes it void.
    init(_ login: LoginSession) {
        self.login = login
        epoch = login.loads.epoch
    }

    /// Whether nobody has logged out since.
    var isValid: Bool { login.loads.epoch == epoch }

    /// Gives a load its place; nil when somebody has logged out since.
    func enter(end: @escaping @Sendable (LoginPlace) -> Void) -> LoginPlace? {
        login.loads.enter(epoch, end: end)
    }
}

extension Load {
    /// Gives the load a place among those of a login, so that a log-out ends it.
    ///
    /// False when somebody has logged out since the request got its cookies: then it is ended, or about to be.
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
