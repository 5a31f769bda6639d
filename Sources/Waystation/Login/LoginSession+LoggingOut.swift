import Dispatch
import Foundation
import Synchronization
import WaystationCookies

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension LoginSession {
    /// Ends the login, and returns when nothing of it is left.
    ///
    /// When it returns
    /// - all cookies of the login's domain are removed, from the store, its file and the storages that are kept in
    ///   step;
    /// - the account's stored responses, and the credentials for hosts of the domain, are removed;
    /// - every load that began under the login, or waited for it, has ended, with
    ///   `URLError.userCancelledAuthentication` and ``WaystationError/Code/loggedOut`` under it;
    /// - no response to an earlier request is delivered or stored, and none of its cookies is taken over;
    /// - a late answer of the provider is dropped.
    ///
    /// It waits for a storage no longer than the storage's time limit; an event names a storage that did not answer.
    /// Requests that were handed to Foundation before the call are not undone. Loads that begin while it runs may
    /// belong to the login or not.
    public func logOut() async {
        guard let cookies else { return }
        // The cookies are removed first, so a load that gets a place in the new epoch has no old cookies. The stored
        // responses are removed last, because requests sent after that are refused for the cookies they carry.
        let sends = cookies.end(id, of: account)
        endWaiting()
        state.withLock { $0.partitions.end() }
        let count = await loads.advance()
        // `start` of a transport returns at once, so this wait is short.
        await withCheckedContinuation { ended in sends.notify(queue: .global()) { ended.resume() } }
        // Until now, the loads that Foundation ran could store cookies in its storage.
        cookies.endStorages(of: id)
        for user in users { await user.forget(self) }
        await cookies.synchronize()
        report(.loggedOut(endedLoads: count))
    }
}
