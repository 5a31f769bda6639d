import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

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
    func enter(end: @escaping LoginLoads.End) -> LoginPlace? {
        login.loads.enter(epoch, end: end)
    }
}
