import Foundation
import FoundationNetworking
import Synchronization
import WaystationCookies
import WaystationStorage

extension LoginSession {
    /// Ends the login, and returns when nothing of it is left.
    ///
    /// When it returns
    /// - all cookies of the login's domain are gone, here, on disk and in the storages that are kept in step;
    /// - what was stored for the account, and the credentials for hosts of the domain, are gone;
    /// - every load that began under the login has ended, those that waited for it too, with
    ///   `URLError.userCancelledAuthentication` and ``WaystationError/Code/loggedOut`` under it;
    /// - no response to a request from before is delivered, stored or heard for its cookies;
    /// - the provider's late answer is dropped.
    ///
    /// A storage that does not answer is not waited for beyond its time limit: an event names it. What was handed to
    /// Foundation before the call stands. Loads that begin while it runs belong to either side.
    public func logOut() async {
        guard let cookies else { return }
        // First the cookies: what gets a place in the new epoch then has none of the old ones. The stored responses come
        // last: what is sent after they went is refused for the cookies it carries.
        cookies.end(id, of: account)
        endWaiting()
        state.withLock { $0.partitions.end() }
        let count = await loads.advance()
        for engine in engines { await engine.forget(self) }
        await cookies.synchronize()
        report(.loggedOut(endedLoads: count))
    }
}

extension Engine {
    /// Drops what is stored for a login, and the credentials of its hosts.
    fileprivate func forget(_ login: LoginSession) async {
        if let store = cache?.store {
            var scopes = [ResponseScope.partitions(prefix: LoginPartitions.prefix(of: login.account))]
            // What lies over packs lies over them for all logins together; the packs themselves stay.
            if configuration.packs != nil { scopes.append(.partitions(prefix: Overlay.prefix)) }
            for scope in scopes {
                do {
                    try await store.remove(scope)
                } catch {
                    // It finds nothing in this process all the same.
                    events.emit(LoadEvent(kind: .degraded("responses of a login that has ended: \(error)")))
                }
            }
        }
        for network in networks { network.credentials?.removeAll(of: login) }
    }
}

extension URLCredentialStorage {
    fileprivate func removeAll(of login: LoginSession) {
        for (space, credentials) in allCredentials {
            var components = URLComponents()
            components.scheme = "https"
            components.host = space.host
            guard login.covers(components.url) else { continue }
            for credential in credentials.values { remove(credential, for: space) }
        }
    }
}
