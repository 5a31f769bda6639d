import Foundation
import FoundationNetworking

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
