import Foundation
import WaystationStorage

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Interceptor: LoginUser {
    func report(_ event: LoginEvent) { environment.events.emit(LoadEvent(kind: .login(event))) }

    func forget(_ login: LoginSession) async {
        if let store = configuration.cache?.store {
            var scopes = [ResponseScope.partitions(prefix: LoginPartitions.prefix(of: login.account))]
            // Responses that overlay packs are stored for all logins together, so all of them go; the packs themselves
            // stay.
            if configuration.installedPacks != nil { scopes.append(.partitions(prefix: Overlay.prefix)) }
            for scope in scopes {
                do {
                    try await store.remove(scope)
                } catch {
                    // The process no longer finds the responses of an ended login, although removing them failed.
                    let problem = "cannot remove the responses of an ended login: \(error)"
                    environment.events.emit(LoadEvent(kind: .degraded(problem)))
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
