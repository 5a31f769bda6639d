import Foundation
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A visit of the stations that was made before the task's protocol was.
///
/// It reaches the protocol by public means: as the cached response that a session passes from its cache to the
/// protocol.
///
/// `@unchecked Sendable` because the superclass is; the properties added here are constants and atomics.
final class PreparedVisit: CachedURLResponse, @unchecked Sendable {
    private let prepared: Visit
    private let visits: VisitsUnderWay
    private let isUnderWay = Atomic(true)
    private let isOutdated = Atomic(false)

    /// Makes the visit of a task that has begun among the visits, and ends there.
    init(_ visit: Visit, in visits: VisitsUnderWay) {
        prepared = visit
        self.visits = visits
        super.init(response: Self.noResponse, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
    }

    /// The visit, for the protocol that has been started; nil if it is outdated.
    func take() -> Visit? {
        end()
        return isOutdated.load(ordering: .relaxed) ? nil : prepared
    }

    /// Ends the visit without an effect: the task was suspended, and its answer may be stale when it is resumed.
    func expire() {
        isOutdated.store(true, ordering: .relaxed)
        end()
    }

    // The session may drop a task without starting its protocol.
    deinit { end() }

    /// Removes the task from the visits under way.
    ///
    /// Call it when the session has called the protocol or dropped the task.
    func end() {
        if isUnderWay.exchange(false, ordering: .relaxed) { visits.end() }
    }

    /// Visits are never archived.
    required init?(coder: NSCoder) { nil }

    /// A cached response must have one; it is never read.
    static let noResponse = URLResponse(
        url: URL(fileURLWithPath: "/"),
        mimeType: nil,
        expectedContentLength: 0,
        textEncodingName: nil
    )
}
