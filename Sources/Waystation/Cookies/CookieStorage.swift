public import WaystationCookies

/// A place beside the store that holds the same cookies, such as that of a web view.
///
/// A store and its storages are kept in step both ways. Calls for one storage come one at a time, each after the end of
/// the one before. One that never answers runs into ``Interceptor/Configuration/storageTimeout``: an event names it, and
/// loads go on without it until it answers.
public protocol CookieStorage: Sendable {
    /// What the storage is called in events.
    var name: String { get }
    /// All of its cookies.
    func cookies() async throws -> [Cookie]
    /// Puts a cookie in, in place of the one with its identity.
    func set(_ cookie: Cookie) async throws
    /// Removes the cookie of an identity; one that is not there is fine.
    func remove(_ id: Cookie.ID) async throws
}
