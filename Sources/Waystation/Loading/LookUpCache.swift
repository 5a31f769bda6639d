import Synchronization
import WaystationFoundation

/// The `URLCache` of an intercepted configuration.
///
/// It caches nothing.
///
/// A session asks its cache about a data task before it starts the task's protocol. The cache may answer on any thread,
/// and the session then starts the protocol on the right queue. So look-ups on disk are made here, without a hop back to
/// the loading queue: at once if they need not wait for the disk and no other load waits for that queue; otherwise on
/// the store's own queue. For tasks that no rule takes it asks the app's own cache, or answers at once, which is quicker
/// than the cache of `.default`.
///
/// It sees every data task of an intercepted session, so two faults of Foundation are corrected here for all of these
/// tasks: ``InlineCompletion`` and ``RequestTimeout``.
///
/// It also holds the binding, so that an interceptor lives as long as the sessions made with it.
final class LookUpCache: URLCache, @unchecked Sendable {
    // `@unchecked` because the superclass is; the properties added here do not change.
    private let binding: Binding
    private let appCache: URLCache?
    private let visits = VisitsUnderWay()

    init(_ binding: Binding) {
        self.binding = binding
        appCache = binding.network.urlCache
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: NSTemporaryDirectory())
    }

    override func getCachedResponse(
        for dataTask: URLSessionDataTask,
        completionHandler: @Sendable @escaping (CachedURLResponse?) -> Void
    ) {
        InlineCompletion.current.switchOff(for: dataTask)
        RequestTimeout.current.obey(for: dataTask)
        guard let request = dataTask.originalRequest, type(of: dataTask) == URLSessionDataTask.self,
            let visit = binding.firstVisit(for: request)
        else { return passOn(dataTask, completionHandler) }
        let isCalm = visits.begin()
        let complete: @Sendable (Verdict) -> Void = { [visits] in
            completionHandler(PreparedVisit(Visit(visit.hop, $0), in: visits))
        }
        guard case .lookUp(let lookUp) = visit.verdict, !lookUp.isForeign else { return complete(visit.verdict) }
        // Loads that wait for the loading queue are better served by a look-up that leaves it to them, unless nothing has
        // to be read.
        if let verdict = lookUp.inMemory(isCalm) { return complete(verdict) }
        _ = lookUp.run(complete)
    }

    /// Asks the app's own cache, so that responses that the app put there remain usable.
    ///
    /// `URLCache.shared` is asked only when it is not empty: the session itself never puts anything there on Linux.
    private func passOn(_ task: URLSessionDataTask, _ completion: @Sendable @escaping (CachedURLResponse?) -> Void) {
        guard let appCache, appCache !== URLCache.shared || appCache.currentMemoryUsage > 0 else {
            return completion(nil)
        }
        appCache.getCachedResponse(for: task, completionHandler: completion)
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

    override func removeCachedResponse(for request: URLRequest) {
        appCache?.removeCachedResponse(for: request)
    }

    override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        appCache?.removeCachedResponse(for: dataTask)
    }

    override func removeAllCachedResponses() {
        appCache?.removeAllCachedResponses()
    }
}

/// The tasks of a session whose protocol has not been started since the session asked its cache about them.
///
/// While there are any, the loading queue has other work.
final class VisitsUnderWay: Sendable {
    private let count = Atomic(0)
    /// The number of tasks, one after the other, that began while there was no other.
    private let calm = Atomic(0)

    /// Adds a task.
    ///
    /// - Returns: Whether the loading queue is free: this task and the three before it began while there was no other.
    ///   Many loads at a time also come to moments without another.
    func begin() -> Bool {
        guard count.add(1, ordering: .relaxed).oldValue == 0 else {
            calm.store(0, ordering: .relaxed)
            return false
        }
        return calm.add(1, ordering: .relaxed).newValue > 3
    }

    /// Removes a task: its protocol was started, or the session has dropped it.
    func end() { count.subtract(1, ordering: .relaxed) }
}
