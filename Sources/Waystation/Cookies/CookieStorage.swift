public import WaystationCookies

/// A second place that holds the store's cookies, such as the cookie storage of a web view.
///
/// A store and its storages are kept in step in both directions. The store calls a storage one call at a time, each
/// after the end of the one before. This also holds if several interceptors share the store and the storage, provided
/// that the storage is a class: each use of a struct counts as another storage.
///
/// If a storage does not answer within ``Interceptor/Configuration/storageTimeout``, an event names it, and loads
/// continue without it until it answers. If a call fails, an event reports the error, and the next sync repeats the
/// change.
public protocol CookieStorage: Sendable {
    /// The name of the storage in events.
    var name: String { get }
    /// All of its cookies.
    func cookies() async throws -> [Cookie]
    /// Adds a cookie, replacing the one with the same identity.
    func set(_ cookie: Cookie) async throws
    /// Removes the cookie with this identity; does nothing if the storage does not have it.
    func remove(_ id: Cookie.ID) async throws
}
