import Foundation
import FoundationNetworking

/// A visit of the stations that was made before the task's protocol was.
///
/// It reaches the protocol by public means: as the cached response that a session passes from its cache to the
/// protocol.
///
/// `@unchecked Sendable` because the superclass is; the properties added here do not change.
final class PreparedVisit: CachedURLResponse, @unchecked Sendable {
    private let prepared: Visit
    private let place: VisitsUnderWay.Place

    init(_ visit: Visit, _ place: VisitsUnderWay.Place) {
        prepared = visit
        self.place = place
        super.init(response: Self.noResponse, data: Data(), userInfo: nil, storagePolicy: .notAllowed)
    }

    /// The visit, for the protocol that has been started.
    func take() -> Visit {
        place.leave()
        return prepared
    }

    /// Visits are never archived.
    required init?(coder: NSCoder) { nil }

    /// A cached response must have one; it is never read.
    private static let noResponse = URLResponse(
        url: URL(fileURLWithPath: "/"),
        mimeType: nil,
        expectedContentLength: 0,
        textEncodingName: nil
    )
}
