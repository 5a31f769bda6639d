import Dispatch
import Synchronization
package import WaystationFoundation

/// The interceptor of a part of a program, for sessions that several parts share.
///
/// The part that a load belongs to is found in the Swift task that begins it, for instance by a task-local value. Nothing
/// changes for loads that begin outside of such a part.
package final class ScopedNetwork: Sendable {
    private struct Bound {
        weak var session: URLSession?
        let binding: Binding
        let cache: LookUpCache

        init(_ interceptor: Interceptor, _ session: URLSession?) {
            let configuration = session?.configuration ?? .ephemeral
            binding = Binding(interceptor, configuration.withoutChoice, takesForwarded: true)
            cache = LookUpCache(binding)
            self.session = session
        }
    }

    private let interceptor: Interceptor
    /// For what does not depend on the session: whether a request is taken, and tasks that are refused.
    private let plain: Bound
    /// Each session has a binding of its own, with the header fields that it adds to requests.
    private let bound = Mutex<[ObjectIdentifier: Bound]>([:])
    /// The class of the configurations that are made for this network.
    private let classOfChoice = Mutex<URLProtocol.Type?>(nil)

    package init(_ interceptor: Interceptor) {
        self.interceptor = interceptor
        plain = Bound(interceptor, nil)
    }

    /// Installs a choice of networks in a configuration, or in the configuration of a session that exists.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which must not be in use by another thread. That of a session may be
    ///     changed, because Foundation on Linux reads it anew for each task; later changes are lost on Darwin.
    ///   - choose: Returns the network of a load; called in the Swift task that begins the load, under a lock of the whole
    ///     process. Nil leaves the load alone.
    package static func install(
        in configuration: URLSessionConfiguration,
        choose: @escaping @Sendable () -> ScopedNetwork?
    ) {
        install(Binding.makeClass { choose()?.plain.binding }, choose, in: configuration)
    }

    /// Installs a choice of networks in a configuration that is made for this one.
    ///
    /// - Parameters:
    ///   - configuration: The configuration, which must not be in use by another thread.
    ///   - choose: Returns the network of a load, where the outer nil stands for this one while it exists; called like
    ///     that of ``install(in:choose:)``, and the same for each call on one network.
    package func installAsDefault(
        in configuration: URLSessionConfiguration,
        choose: @escaping @Sendable () -> ScopedNetwork??
    ) {
        let choice: @Sendable () -> ScopedNetwork? = { [weak self] in choose() ?? self }
        let protocolClass = classOfChoice.withLock { known in
            // A class is never released.
            let protocolClass = known ?? Binding.makeClass { choice()?.plain.binding }
            known = protocolClass
            return protocolClass
        }
        Self.install(protocolClass, choice, in: configuration)
    }

    private static func install(
        _ protocolClass: URLProtocol.Type,
        _ choose: @escaping @Sendable () -> ScopedNetwork?,
        in configuration: URLSessionConfiguration
    ) {
        guard !(configuration.protocolClasses ?? []).contains(where: Binding.areChosen) else { return }
        // A session whose list is empty uses the classes that are registered, after its own.
        configuration.protocolClasses = [protocolClass] + (configuration.protocolClasses ?? [])
        configuration.urlCache = ChoosingCache(choose, appCache: configuration.urlCache)
    }

    /// The binding of a task's session, and the look-ups of its loads.
    fileprivate func binding(of task: URLSessionTask) -> (binding: Binding, cache: LookUpCache) {
        let found = FoundationInternals.session(of: task).map(bound(to:)) ?? plain
        return (found.binding, found.cache)
    }

    private func bound(to session: URLSession) -> Bound {
        let key = ObjectIdentifier(session)
        if let known = bound.withLock({ $0[key] }), known.session === session { return known }
        let made = Bound(interceptor, session)
        return bound.withLock { bound in
            bound = bound.filter { $0.value.session != nil }
            if let first = bound[key] { return first }
            bound[key] = made
            return made
        }
    }
}

/// The `URLCache` of a configuration with a choice of networks.
///
/// A session asks it in the Swift task that begins a load, so that the load's network is chosen here. It caches nothing.
private final class ChoosingCache: URLCache, @unchecked Sendable {
    // `@unchecked` because the superclass is; the properties added here do not change.
    private let choose: @Sendable () -> ScopedNetwork?
    fileprivate let appCache: URLCache?

    init(_ choose: @escaping @Sendable () -> ScopedNetwork?, appCache: URLCache?) {
        self.choose = choose
        self.appCache = appCache
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: NSTemporaryDirectory())
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @Sendable @escaping (CachedURLResponse?) -> Void
    ) {
        guard let network = choose() else {
            guard let appCache else { return completionHandler(nil) }
            return appCache.getCachedResponse(for: dataTask, completionHandler: completionHandler)
        }
        let (binding, cache) = network.binding(of: dataTask)
        cache.getCachedResponse(for: dataTask) { completionHandler(ChosenBinding(binding, $0)) }
    }

    override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        appCache?.cachedResponse(for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        appCache?.storeCachedResponse(cachedResponse, for: request)
    }

    override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask) {
        appCache?.storeCachedResponse(cachedResponse, for: dataTask)
    }

    override func removeCachedResponse(for request: URLRequest) { appCache?.removeCachedResponse(for: request) }

    override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        appCache?.removeCachedResponse(for: dataTask)
    }

    override func removeAllCachedResponses() { appCache?.removeAllCachedResponses() }
}

extension URLSessionConfiguration {
    /// A copy without a choice of networks.
    fileprivate var withoutChoice: URLSessionConfiguration {
        let copy = (copy() as? URLSessionConfiguration) ?? .ephemeral
        copy.protocolClasses = protocolClasses?.filter { !Binding.areChosen(for: $0) }
        copy.urlCache = (urlCache as? ChoosingCache).map(\.appCache) ?? urlCache
        return copy
    }
}

/// The values that must be known of a task's session: its work queue, and the recipients of its tasks' bytes.
///
/// Reading them by reflection takes half the time of a load. So they are read once for each session, with its first
/// task, and are stored on the session's work queue, where all of its tasks find them.
///
/// `@unchecked Sendable`: its values never change, and the registry is read on the work queue alone, which guards it.
final class LoadingSession: @unchecked Sendable {
    private(set) weak var session: URLSession?
    /// The queue holds this object, so this must not hold the queue.
    private(set) weak var workQueue: DispatchQueue?
    private let registry: FoundationInternals.TaskRegistry?

    private init(_ session: URLSession, _ workQueue: DispatchQueue) {
        self.session = session
        self.workQueue = workQueue
        registry = FoundationInternals.TaskRegistry(of: session)
    }

    private static let key = DispatchSpecificKey<LoadingSession>()

    /// The session of a task; nil when it cannot be read.
    ///
    /// Call it on the task's work queue.
    static func current(for task: URLSessionTask) -> LoadingSession? {
        if let known = DispatchQueue.getSpecific(key: key) { return known }
        guard let session = FoundationInternals.session(of: task),
            let queue = FoundationInternals.workQueue(of: session)
        else { return nil }
        let found = LoadingSession(session, queue)
        queue.setSpecific(key: key, value: found)
        return found
    }

    /// The delegate that gets the progress of a task of this session; nil if the task has no delegate, or if the delegate
    /// cannot be read.
    ///
    /// Call it on the work queue.
    func listener(of task: URLSessionTask) -> Listener? {
        guard let session else { return nil }
        switch registry?.audience(of: task, in: session) {
        case .delegate(let delegate): return Listener(delegate: delegate, session: session, takesPieces: true)
        case .completionHandler(let delegate?):
            return Listener(delegate: delegate, session: session, takesPieces: false)
        case .completionHandler(nil), .noRecipient, nil: return nil
        }
    }
}

/// The delegate that gets a task's progress, and the session that calls it.
struct Listener {
    /// The task's delegate, or that of the one call that made the task.
    let delegate: any URLSessionTaskDelegate
    let session: URLSession
    /// Whether the delegate gets the bytes as they arrive, and no completion handler gets the whole body.
    let takesPieces: Bool
}
